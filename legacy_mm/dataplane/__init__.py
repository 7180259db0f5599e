"""What runs inside Spark tasks. Start with `task.py`, then `records_engine.py`. Never imports the control plane."""
