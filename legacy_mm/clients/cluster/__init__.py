"""One cluster as all clients see it: who leads what, who coordinates what, ways to its brokers.

Start with `cluster.py`. Rule: it asks, and changes nothing.
"""
