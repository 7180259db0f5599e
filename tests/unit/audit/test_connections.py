"""A task gets the credentials from the driver over the channel; what Spark sees of them is a ticket."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from legacy_mm.audit.connections import ConnectionGiver, connection_of
from legacy_mm.base.errors import ChannelError
from legacy_mm.base.kafka_clients import ConnectionSettings, SaslSettings
from legacy_mm.base.secret import Secret

CONNECTIONS = {
    "source": ConnectionSettings(("a:1",), sasl=SaslSettings(password=Secret("geheim"))),
    "target": ConnectionSettings(("b:1",), sasl=SaslSettings(password=Secret("streng geheim"))),
}


@pytest.fixture(params=[True, False], ids=["on this host", "on a cluster"])
def giver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ConnectionGiver]:
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    made = ConnectionGiver(CONNECTIONS, embedded=request.param)
    yield made
    made.close()


def test_every_task_is_answered(giver: ConnectionGiver) -> None:
    for side in ("source", "target", "source"):
        assert connection_of(giver.secret, side) == CONNECTIONS[side]
    assert "geheim" not in giver.secret + repr(giver.ticket)


def test_nobody_else_is(giver: ConnectionGiver) -> None:
    guessed = json.dumps({**json.loads(giver.secret), "key": "00" * 32})
    with pytest.raises(ChannelError):
        connection_of(guessed, "source")
