"""The line below `Error when sending message`: Java's exception, as 3.9 prints it."""

from __future__ import annotations

import pytest

from legacy_mm.clients.librdkafka.error_meanings import broker_error
from legacy_mm.compat.java_errors import java_error

PACKAGE = "org.apache.kafka.common."
NO_KEY = "Compacted topic cannot accept message without key in topic partition t-0."


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        (87, NO_KEY, f"InvalidRecordException: {NO_KEY}"),
        (87, "", "InvalidRecordException: This record has failed the validation on broker and hence will be rejected."),
        (32, "", "errors.InvalidTimestampException: The timestamp of the message is out of acceptable range."),
        (7, "", "errors.TimeoutException: Broker: Request timed out"),
        (6, "", "errors.NotLeaderOrFollowerException: Broker: Not leader for partition"),
        (29, "", "errors.TopicAuthorizationException: Not authorized to access topics: [t]"),
    ],
)
def test_an_error_has_the_name_that_people_grep_for(code: int, told: str, line: str) -> None:
    text, name = broker_error(code)
    assert java_error({"topic": "t", "reason": told or text, "code": name}) == PACKAGE + line
