"""Record sets from partitions: for the engine, which reads many, and for one that is read on the side.

Start with `fetcher.py`. Rule: bytes stay as the broker sent them.
"""
