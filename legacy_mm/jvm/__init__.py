"""The Java process that Spark's driver lives in, and what else it does for us. Rule: py4j is used here alone."""
