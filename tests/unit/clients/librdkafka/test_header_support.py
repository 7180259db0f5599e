"""A target is asked whether it stores headers only where it might not, and there are some.

What brokers answer is shown by tests/brokers/test_old_brokers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from legacy_mm.clients.librdkafka import header_support
from legacy_mm.clients.librdkafka.client import ErrorLines
from legacy_mm.clients.librdkafka.header_support import HeaderCheck
from legacy_mm.config import property_names
from legacy_mm.errors import StreamFailure

SOME: list[Any] = [None, [("trace", b"1")]]
NONE: list[Any] = [None, []]


@pytest.fixture
def silent(new_port: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> Callable[..., HeaderCheck]:
    """Makes checks of a target that does not answer."""
    monkeypatch.setattr(header_support, "QUESTION_TIMEOUT", 0.1)
    bootstrap = f"127.0.0.1:{new_port()}"

    def check(idempotence: str) -> HeaderCheck:
        return HeaderCheck(
            property_names.read_producer({"bootstrap.servers": bootstrap, "enable.idempotence": idempotence}),
            ErrorLines("client"),
        )

    return check


def test_who_gives_producer_ids_is_not_asked(silent: Callable[..., HeaderCheck]) -> None:
    assert silent("true").admits(SOME, "orders")


def test_no_answer_is_none(silent: Callable[..., HeaderCheck]) -> None:
    """Nothing is sent, and it is asked again."""
    headers = silent("false")
    assert headers.admits(NONE, "orders")
    assert not headers.admits(SOME, "orders")
    assert headers.admits(NONE, "orders")


@pytest.mark.parametrize("stored", [True, False])
def test_an_answer_holds(silent: Callable[..., HeaderCheck], monkeypatch: pytest.MonkeyPatch, stored: bool) -> None:
    headers, answers = silent("false"), iter([None, stored])
    monkeypatch.setattr(HeaderCheck, "_ask", lambda *_: next(answers))
    assert not headers.admits(SOME, "orders")
    if stored:
        assert headers.admits(SOME, "orders")
        assert headers.admits(SOME, "orders"), "and is not asked for again"
    else:
        with pytest.raises(StreamFailure, match=r"^sending to orders failed: Magic v1 does not support record headers"):
            headers.admits(SOME, "orders")
