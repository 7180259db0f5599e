"""The copying, as it runs inside Spark tasks. Start with `copy_engine.py`.

Rule: it never imports the control plane; what it must know is in the task config that it is given.
"""
