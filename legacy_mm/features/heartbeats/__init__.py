"""Records that say that a flow is alive, and copies of the source's own."""
