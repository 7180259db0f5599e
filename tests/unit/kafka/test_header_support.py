"""A target is asked whether it stores headers only where it might not, and there are some."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer

from legacy_mm.errors import StreamFailure
from legacy_mm.kafka import header_support
from legacy_mm.kafka.client import ErrorLines
from legacy_mm.kafka.header_support import HeaderCheck

SOME, NONE = [None, [("trace", b"1")]], [None, []]


@pytest.fixture
def too_old() -> Iterator[str]:
    """Address of librdkafka's own mock broker, which lacks the request as brokers of before 0.11 do."""
    cluster = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "", "log_level": 0})
    (broker,) = cluster.list_topics(timeout=10).brokers.values()
    yield f"{broker.host}:{broker.port}"
    cluster.flush(0)


def check(bootstrap: str, *, idempotent: bool = False) -> HeaderCheck:
    properties = {"bootstrap.servers": bootstrap, "enable.idempotence": str(idempotent).lower()}
    return HeaderCheck(properties, ErrorLines("client"))


def test_headers_that_would_be_left_out_end_the_copying(too_old: str) -> None:
    headers = check(too_old)
    assert headers.admits(NONE, "orders")
    with pytest.raises(StreamFailure, match=r"^sending to orders failed: Magic v1 does not support record headers"):
        headers.admits(SOME, "orders")


def test_who_gives_producer_ids_is_not_asked(too_old: str) -> None:
    assert check(too_old, idempotent=True).admits(SOME, "orders")


def test_no_answer_is_none(new_port: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent, and it is asked again."""
    monkeypatch.setattr(header_support, "QUESTION_SECONDS", 0.1)
    headers = check(f"127.0.0.1:{new_port()}")
    assert not headers.admits(SOME, "orders")
    assert headers.admits(NONE, "orders")
