"""Kafka's bytes and error codes. Start with `record_set.py`, then `record_batch.py`. Rule: no socket, clock or file."""
