"""Parts are put together here: the mirror of one flow in the driver, the copy engine in a Spark task.

Start with `wiring.py`, then `copy_task.py`. Rule: it decides nothing and imports everything.
"""
