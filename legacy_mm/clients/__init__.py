"""Clients of Kafka clusters, in folders by Kafka's own words: `net`, `cluster`, `fetch`, `produce`, `group`, `admin`.

`topics` reads and writes whole topics by means of the others; `librdkafka` has the memberships that ours lack.
Rule: nobody else knows a library of Kafka's protocol.
"""
