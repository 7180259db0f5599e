"""The code that runs inside Spark tasks. Start with `task.py`, then `batches_engine.py`. Never imports the control
plane.
"""
