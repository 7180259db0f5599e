"""One flow: one source, one target, one `Settings`. Start with `mirror.py`, then `wiring.py`.

Rule: parts are put together here, and know each other from nowhere else.
"""
