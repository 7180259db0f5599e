"""Clients of Kafka clusters: `api` says what they can do, `choose` picks one. Rule: nobody else knows a library."""
