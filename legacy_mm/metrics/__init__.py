"""Counters, the registry with its one frozen snapshot, JMX and Prometheus. Start with `registry.py`.

Rule: nobody who counts knows who reads.
"""
