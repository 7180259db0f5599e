"""Kafka's protocol over our own sockets: record batches as bytes, and what librdkafka has no request or login for.

Start with `cluster.py`, then `fetcher.py` and `appender.py`. Rule: the one door to kafka-python.
"""
