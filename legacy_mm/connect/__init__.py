"""Kafka Connect's door: its REST API, the status page, and the worker of connectors behind them.

Rule: it decides nothing about copying, and without `--admin.port` nothing of the server (`rest`) is imported.
"""
