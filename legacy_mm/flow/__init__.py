"""One flow: one source, one target, one `Settings`, and the services that its parts share. Start with `mirror.py`.

Rule: it knows every part of a flow but exactly once.
"""
