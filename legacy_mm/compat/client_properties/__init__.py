"""Java client properties as rows, and the one function that turns them into librdkafka's."""
