"""Features of MirrorMaker 2, all off by default, a folder each. Start with `rows.py`, then `schedule.py`.

Rule: a feature that is off creates no object, client, thread, topic or request (invariant E).
"""
