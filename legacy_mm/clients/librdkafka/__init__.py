"""The one door to confluent_kafka: clients, and its errors in our words. Start with `membership.py` and `sender.py`."""
