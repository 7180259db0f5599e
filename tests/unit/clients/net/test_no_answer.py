"""What is said of listeners that speak something else."""

from __future__ import annotations

import re

import pytest

from legacy_mm.clients.net.no_answer import closing, odd_size

TLS, HTTP = "these bytes are TLS", "these bytes are HTTP"


@pytest.mark.parametrize(
    ("begun", "unanswered", "told"),
    [
        (b"", [3, 4], "^it closed the connection$"),
        (b"", [], "^it closed the connection$"),
        (b"\0\0", [1], "^it closed the connection$"),
        (b"", [1], "at the first question, as where TLS or a login is wanted: look at security.protocol"),
        (b"", [2], "at the first question"),
        (b"\x15\x03\x03\0\x02\x02\x50", [1], TLS),
        (b"\x14\x03\x03", [7], TLS),
        (b"HTTP", [1], HTTP),
    ],
)
def test_a_connection_that_was_closed(begun: bytes, unanswered: list[int], told: str) -> None:
    assert _found(told, closing(begun, unanswered))


@pytest.mark.parametrize(
    ("size", "told"),
    [(0x15030300, f"^a response of 352518912 bytes; the most is 9: {TLS}"), (0x48545450, HTTP), (-1, "the most is 9$")],
)
def test_an_answer_of_an_odd_size(size: int, told: str) -> None:
    assert _found(told, odd_size(size, 9))


def _found(expression: str, text: str) -> bool:
    return re.search(expression, text) is not None
