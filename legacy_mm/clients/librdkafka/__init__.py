"""The group membership made with confluent_kafka, and its errors in our words. Start with `membership.py`.

Rule: the one door to confluent_kafka.
"""
