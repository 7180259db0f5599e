"""Kafka's protocol over our own sockets: all that a mirror asks, but for the memberships that only librdkafka has.

Start with `cluster.py`, then `fetcher.py` and `appender.py`. Rule: the one door to kafka-python.
"""
