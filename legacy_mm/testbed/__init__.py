"""Real Kafka and the real legacy tools on loopback. An oracle: it shares nothing with what it judges."""
