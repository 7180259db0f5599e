"""A broker's error in words, and what can be told from these."""

from __future__ import annotations

import pytest

from legacy_mm.clients.net import error_text
from legacy_mm.protocol.error_codes import ErrorCode


def test_an_error_has_its_name_and_its_meaning() -> None:
    assert error_text.text(ErrorCode.UNKNOWN_MEMBER_ID).startswith("UNKNOWN_MEMBER_ID: ")
    assert len(error_text.text(ErrorCode.UNKNOWN_MEMBER_ID)) > len("UNKNOWN_MEMBER_ID: ")


def test_a_missing_right_is_named_with_the_command_that_gives_it() -> None:
    assert error_text.refused_topic("t", ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Read", "source") == (
        "TOPIC_AUTHORIZATION_FAILED: Topic authorization failed. The principal needs the right Read on topic t at the "
        "source: kafka-acls.sh --add --allow-principal User:NAME --operation Read --topic 't'"
    )
    assert error_text.needed("group", "g", "Read", "Describe") == (
        "The principal needs the rights Read and Describe on group g: kafka-acls.sh --add --allow-principal User:NAME "
        "--operation Read --operation Describe --group 'g'"
    )
    assert "The principal" not in error_text.refused_topic("t", ErrorCode.REQUEST_TIMED_OUT, "Read")


@pytest.mark.parametrize(
    ("code", "forbids", "of_members"),
    [
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, True, False),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, True, False),
        (ErrorCode.UNKNOWN_MEMBER_ID, False, True),
        (ErrorCode.REQUEST_TIMED_OUT, False, False),
    ],
)
def test_what_a_text_reports(code: ErrorCode, forbids: bool, of_members: bool) -> None:
    told = error_text.text(code)
    assert (error_text.forbids(told), error_text.tells_of_members(told)) == (forbids, of_members)
