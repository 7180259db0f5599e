"""Record batches to partitions, in order and once. Start with `appender.py`, then `partition_queue.py`.

Rule: what was acknowledged is told once, in the order of its partition.
"""
