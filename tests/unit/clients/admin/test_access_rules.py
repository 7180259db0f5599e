"""Rights on a topic, as a broker's answer tells them."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.admin.acl import ACLOperation
from typing_extensions import override

from legacy_mm.clients.admin.access_rules import missing_rights
from legacy_mm.clients.net.connection_errors import UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fakes.cluster import FakeCluster

READ, WRITE, DESCRIBE = ACLOperation.READ, ACLOperation.WRITE, ACLOperation.DESCRIBE


class Broker(FakeCluster):
    """A broker that tells these rights."""

    def __init__(self, rights: set[ACLOperation] | None, error: int = 0) -> None:
        super().__init__()
        self._topic = SimpleNamespace(error_code=error, authorized_operations=rights)

    @override
    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        assert request.include_topic_authorized_operations
        assert not request.allow_auto_topic_creation
        return SimpleNamespace(brokers=["one"], topics=[self._topic])


@pytest.mark.parametrize(
    ("rights", "error", "told"),
    [
        ({READ, WRITE, DESCRIBE}, 0, ""),
        ({READ, DESCRIBE}, 0, "the right Write on topic t at the target: "),
        ({DESCRIBE}, 0, "the rights Read and Write on topic t at the target: "),
        (None, ErrorCode.TOPIC_AUTHORIZATION_FAILED, "the rights Read and Write on topic t at the target: "),
        (None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ""),
        (None, 0, ""),
    ],
)
def test_what_is_missing_is_named(rights: set[ACLOperation] | None, error: int, told: str) -> None:
    found = missing_rights(Broker(rights, error), "t", ("Read", "Write"), "target")
    assert found.removeprefix("The principal needs ")[: len(told) or None] == told


def test_brokers_before_2_3_do_not_tell() -> None:
    class Old(FakeCluster):
        @override
        def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
            raise UnsupportedVersion("Metadata")

    assert missing_rights(Old(), "t", ("Read",), "target") == ""
