"""The way in which a copy task comes to be: the Java process, Spark, and the channel between driver and task.

Rule: it starts and carries what others wrote, and copies nothing.
"""
