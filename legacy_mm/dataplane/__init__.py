"""The code that runs inside Spark tasks. Start with `task.py`, then `batches_engine.py`.

Rule: it never imports the control plane; what it must know is in the task config that it is given.
"""
