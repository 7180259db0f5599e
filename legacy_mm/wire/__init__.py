"""Kafka's protocol over our own sockets, for record batches as bytes: layer 2, the one door to kafka-python."""
