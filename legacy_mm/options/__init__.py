"""The options of the command line that the legacy tool does not have: rows, checks, near misses."""
