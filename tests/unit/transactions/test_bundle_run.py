"""A run of one bundle: what ends its claim, and why it does not end in time. Brokers show the rest."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, Undecided
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.connection_errors import ClusterUnreachable
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.transactions import bundle_run
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_run import BundleRuns
from legacy_mm.transactions.txn_requests import TransactionVersion
from tests.fixtures import client_settings
from tests.unit.transactions.test_claim_inspection import Source, Target
from tests.unit.transactions.test_transactional_delivery import NOTHING, Weigh, claims
from tests.unit.transactions.test_txn_coordinators import HANGING, Broker

SECONDS = 0.5
ADOPTED = (), ((TopicPartition("t", 0), 7),)


class Reached(Broker):
    """One that nothing is asked but about transactions."""

    @override
    def refresh(self, node: int | None = None) -> None:
        """Nothing to do."""


def test_a_transaction_that_does_not_end_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_run, "Cluster", lambda settings, timeout: Reached())
    runs = BundleRuns(client_settings.read_producer({"bootstrap.servers": "one:1"}), 60.0)
    contents: Any = SimpleNamespace(claim=None, decide_positions=None, position_records=None)
    with pytest.raises(HostError, match=r"does not end \(CONCURRENT_TRANSACTIONS\); .* --transactional-id id\.1 shows"):
        runs.run(Bundle(HANGING, TopicPartition("positions", 0)), contents, Deadline.after(SECONDS))
    runs.close()


class Described(Target):
    """One that describes the positions topic, and is asked nothing else."""

    @override
    def refresh(self, node: int | None = None) -> None:
        """Nothing to do."""


def claim_of_a_command(
    monkeypatch: pytest.MonkeyPatch, topic: str, decide_positions: Weigh, policy: str = "compact", error: int = 0
) -> Weigh:
    """The claim of a command whose contents weigh so."""
    works: list[Any] = []
    monkeypatch.setattr(bundle_run, "Cluster", lambda settings, timeout: Described(policy, error))
    runs = BundleRuns(client_settings.read_producer({"bootstrap.servers": "one:1"}), 60.0)

    def own(bundle: Bundle, contents: Any, do: Any, interval: float) -> Any:
        works.append(contents)
        return SimpleNamespace(is_over=True, version=TransactionVersion.ONE)

    monkeypatch.setattr(runs._client, "own", own)
    contents: Any = SimpleNamespace(claim=None, decide_positions=decide_positions, position_records=None)
    runs.run(Bundle("id", TopicPartition(topic, 0)), contents, Deadline.after(SECONDS))
    runs.close()
    claimed: Weigh = works[0].decide_positions
    return claimed


def test_a_topic_that_deletes_positions_ends_a_claim_of_a_command_as_it_ends_the_mirror_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the group's offsets are committed, which a command does when it weighs."""
    mirror, *_ = claims(Source(), Target("compact,delete"))
    with pytest.raises(Undecided) as of_mirror:
        mirror(NOTHING)
    topic = str(of_mirror.value).partition("positions topic ")[2].split()[0]
    contents = Mock()
    command = claim_of_a_command(monkeypatch, topic, contents, "compact,delete")
    with pytest.raises(Undecided) as of_command:
        command(NOTHING)
    assert str(of_command.value) == str(of_mirror.value)
    contents.assert_not_called()


def test_a_topic_that_keeps_positions_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert claim_of_a_command(monkeypatch, "positions", lambda rows: ADOPTED)(NOTHING) == ADOPTED


def test_a_claim_whose_target_does_not_know_the_topic_yet_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start has just made it, and not all brokers have heard."""
    command = claim_of_a_command(
        monkeypatch, "positions", lambda rows: ADOPTED, error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    with pytest.raises(ClusterUnreachable):
        command(NOTHING)
