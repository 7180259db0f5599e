"""Real Kafka on loopback and the real old tools, for tests, demo and bench: an oracle that shares nothing with what it judges."""
