"""The line below `Error when sending message`: Java's exception, as 3.9 prints it."""

from __future__ import annotations

import pytest

from legacy_mm.clients.net import error_text
from legacy_mm.protocol import error_codes
from legacy_mm.words.legacy_tool.java_errors import java_error

PACKAGE = "org.apache.kafka.common."
NOT_LEADER = (
    "For requests intended only for the leader, this error indicates that the broker is not the current leader."
)
NO_KEY = "Compacted topic cannot accept message without key in topic partition t-0."


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        (87, NO_KEY, f"InvalidRecordException: {NO_KEY}"),
        (87, "", "InvalidRecordException: This record has failed the validation on broker and hence will be rejected."),
        (32, "", "errors.InvalidTimestampException: The timestamp of the message is out of acceptable range."),
        (7, "", "errors.TimeoutException: The request timed out."),
        (
            6,
            "",
            f"errors.NotLeaderOrFollowerException: {NOT_LEADER}",
        ),
        (29, "", "errors.TopicAuthorizationException: Not authorized to access topics: [t]"),
    ],
)
def test_an_error_has_the_name_that_people_grep_for(code: int, told: str, line: str) -> None:
    reason, name = told or error_text.meaning(code), error_codes.name(code)
    assert java_error({"topic": "t", "reason": reason, "code": name}) == PACKAGE + line
