"""The Java process that Spark's driver lives in, and what else it does for us. Start with `gateway.py`.

Rule: py4j is used here, and by Spark's own session.
"""
