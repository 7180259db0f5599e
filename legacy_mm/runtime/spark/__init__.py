"""Spark: the session, copy jobs as Spark jobs, what is shipped to workers. Start with `runner.py`.

Rule: no secret goes through Spark.
"""
