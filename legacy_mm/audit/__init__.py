"""The comparison of two clusters: a Spark job over the data itself, in its own process. Start with `comparison.py`."""
