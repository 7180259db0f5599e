"""The oracles that users run: ledger, self-test, and `verify` on Spark. Start with `ledger.py`.

Rule: an oracle shares nothing with what it judges; only `verify`, which reads whole topics, uses our own clients.
"""
