"""The one door to pyspark and py4j: JVM, application, copy jobs, control channel. Start with `runner.py`."""
