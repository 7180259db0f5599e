"""Real Kafka and the real old tools on loopback. An oracle: it shares nothing with what it judges."""
