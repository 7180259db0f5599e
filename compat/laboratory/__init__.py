"""Real brokers, the real legacy tool, proxies, the bench and the demo: for a checkout, never in the wheel."""
