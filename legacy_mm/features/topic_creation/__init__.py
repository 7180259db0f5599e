"""Missing topics of the target are created, with the source's partitions and properties, and grow with it."""
