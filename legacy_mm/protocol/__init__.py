"""Kafka's bytes, pure: no socket, no clock, no file. Start with `record_set.py`, then `record_batch.py`."""
