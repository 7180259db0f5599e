"""What the mirror counts: the registry, its one frozen snapshot, and JMX and Prometheus made of it. Start with
`registry.py`."""
