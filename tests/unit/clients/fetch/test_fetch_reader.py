"""What a reader tells its broker, and how long it lets it wait for records."""

from __future__ import annotations

import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse

from legacy_mm.audit.waiting import wait_until
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.net.connection_errors import ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from tests.fakes.cluster import OneBroker
from tests.unit.clients.one_broker import OPTIONS, SECONDS, A, Unattended, asked, batch_at, reader_of

_VERSION = 8
_ERROR, _NO_SESSION = 9, 70


class Connection:
    """Notes the requests; answers with what it is given, else nothing until it is closed."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.answers: list[memoryview] = []
        self._closed = threading.Event()

    def is_due(self) -> bool:
        return False

    def version(self, *_: int) -> int:
        return _VERSION

    def send(self, _: int, version: int, parts: list[bytes]) -> None:
        self.requests.append(FetchRequest.decode(parts[0], version=version))

    def receive(self) -> memoryview:
        if not self.answers:
            assert self._closed.wait(SECONDS)
            raise ConnectionLost("closed")
        return self.answers.pop(0)

    def close(self) -> None:
        self._closed.set()

    @property
    def waits(self) -> list[int]:
        return [request.max_wait_ms for request in self.requests]

    @property
    def told(self) -> list[int]:
        """The number of partitions that each request names: at most one."""
        return [sum(len(topic.partitions) for topic in request.topics) for request in self.requests]


def response(records: bytes | None = None, error: int = 0, refused: int = 0) -> memoryview:
    row = FetchResponse.FetchableTopicResponse.PartitionData(
        partition_index=A.partition, error_code=error, high_watermark=90, records=records
    )
    topics = [FetchResponse.FetchableTopicResponse(topic=A.topic, partitions=[row])]
    nothing = records is None and not error
    made = FetchResponse(error_code=refused, session_id=7, responses=[] if nothing else topics, version=_VERSION)
    return memoryview(bytearray(made.encode(version=_VERSION)))


@pytest.fixture
def connection() -> Connection:
    return Connection()


def reading(connection: Connection, least: int = 1) -> Fetcher:
    cluster = OneBroker()
    cluster.connect = lambda node, within=0.0: connection  # type: ignore[method-assign,assignment,return-value]
    made = Unattended(cluster, replace(OPTIONS, min_bytes=least), 1 << 20, Traffic("consumer", print))
    made.resume({A: 20})
    return made


def test_a_broker_that_has_forgotten_its_session_is_told_everything(connection: Connection) -> None:
    fetcher = reading(connection)
    reader = reader_of(fetcher)
    connection.answers = [response(), response(refused=_NO_SESSION), response()]
    for _ in range(3):
        fetcher.serve(reader, asked(fetcher))
    assert connection.told == [1, 0, 1]


def test_behind_a_broken_connection_everything_is_told(connection: Connection) -> None:
    fetcher = reading(connection)
    reader = reader_of(fetcher)
    connection.answers = [response()]
    fetcher.serve(reader, asked(fetcher))
    connection.close()
    fetcher.serve(reader, asked(fetcher))
    fetcher._subscriptions._pauses.clear()
    connection.answers = [response()]
    fetcher.serve(reader, asked(fetcher))
    assert connection.told == [1, 0, 1]


def test_a_broker_that_has_nothing_may_wait_longer(connection: Connection) -> None:
    """Records, and errors, bring the user's own wait back."""
    fetcher = reading(connection)
    reader = reader_of(fetcher)
    connection.answers = [response() for _ in range(6)]
    connection.answers += [response(batch_at(20)), response(), response(error=_ERROR), response()]
    while connection.answers:
        fetcher.serve(reader, asked(fetcher))
    assert connection.waits == [500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 500, 1_000, 500]


def test_what_comes_below_the_least_bytes_waits_no_longer(connection: Connection) -> None:
    fetcher = reading(connection, least=100)
    reader = reader_of(fetcher)
    connection.answers = [response(), response()]
    while connection.answers:
        fetcher.serve(reader, asked(fetcher))
    assert connection.waits == [500, 500]


def test_a_longer_wait_ends_when_there_is_more_to_ask_for(connection: Connection) -> None:
    """The user's own wait does not, and neither is a trouble."""
    fetcher = reading(connection)
    troubles: list[str] = []
    fetcher.traffic = SimpleNamespace(exchanged=lambda *_: None, on_trouble=troubles.append)  # type: ignore[assignment]
    reader = reader_of(fetcher)
    reader.interrupt()
    connection.answers = [response()]
    fetcher.serve(reader, asked(fetcher))
    serve = threading.Thread(target=lambda: fetcher.serve(reader, asked(fetcher)))
    serve.start()
    wait_until(lambda: len(connection.waits) == 2, SECONDS, "the longer wait")
    reader.interrupt()
    serve.join(SECONDS)
    assert not serve.is_alive()
    assert troubles == []
    assert connection.waits == [500, 1_000]
