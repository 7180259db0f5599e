"""Kafka's protocol over our own sockets: all but the group membership, and that too where librdkafka lacks the login.

Start with `cluster.py`, then `fetcher.py` and `appender.py`. Rule: the one door to kafka-python.
"""
