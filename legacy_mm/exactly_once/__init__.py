"""Exactly once across clusters: the steps of one bundle of source partitions. Start with `bundle_session.py`;
`evidence.py` says what a claim believes.

Rule: pure. Events go in, actions come out; no client, thread, socket or clock.
"""
