"""Are two clusters equal? A Spark job over the data itself, in a process of its own. Start with `comparison.py`."""
