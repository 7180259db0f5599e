"""Kafka Connect's door: its REST API, the status page, and the worker of connectors behind them."""
