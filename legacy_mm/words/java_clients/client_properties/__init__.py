"""Java client properties as rows, and the one function that turns them into librdkafka's. Rule: a row has a reason."""
