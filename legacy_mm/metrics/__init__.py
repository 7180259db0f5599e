"""Counts what the mirror does: the registry, its one frozen snapshot, and JMX and Prometheus made of it. Start with
`registry.py`.
"""
