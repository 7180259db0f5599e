"""Kafka's protocol over our own sockets, for record batches as bytes and for what librdkafka has no request or login.

Layer 2, the one door to kafka-python. Start with `cluster.py`, then `fetcher.py` and `appender.py`.
"""
