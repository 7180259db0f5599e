"""Exactly once between clusters: all of it but its flags. Start with `bundle_session.py`, which decides.

`bundle_owner.py` does what a session says, `transactional_delivery.py` is the task's part, `exactly_once_start.py` and
`exactly_once_stream.py` are the driver's; `evidence.py` says what a claim believes. Rule: what decides is pure, and at
least once needs none of it.
"""
