"""Which engine a flow's copy jobs have, and what the next job does otherwise after a trouble."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from legacy_mm.config.property_names import TOKEN_AUTH
from legacy_mm.config.settings import HandlerSettings, ReceiptSettings, SparkSettings
from legacy_mm.controlplane.copy_job import CopyTrouble
from legacy_mm.errors import ConfigurationError, FailureKind
from legacy_mm.flow.copy_jobs import Copies, choose_engine, client_id, only_batches
from legacy_mm.flow.flow_settings import Settings
from tests.unit.flow_settings import SERVERS, flow_settings, source_settings, source_with, target_with

BY_RECORD = "Copying record by record: ssl.engine.location is known to librdkafka only"
FOREIGN = {**SERVERS, "security.protocol": "ssl", "ssl.engine.location": "x"}
TOKEN = {**SERVERS, "security.protocol": "sasl_ssl", "sasl.mechanism": "SCRAM-SHA-256", TOKEN_AUTH: "true"}


def nobody(*_: object) -> Any:
    """Nobody is asked, and no job starts."""
    raise AssertionError


@pytest.fixture
def settings() -> Settings:
    return flow_settings(source_settings())


@pytest.mark.parametrize("produced", [{"partitioner": "random"}, {"acks": "0"}])
def test_whole_batches_whatever_the_producer_does(settings: Settings, produced: dict[str, str]) -> None:
    target = target_with(settings.target, produced)
    assert choose_engine(replace(settings, target=target)).engine == "batches"
    assert choose_engine(replace(settings, target=replace(target, synchronous=True))).engine == "batches"


@pytest.mark.parametrize("master", [None, "local[8]", "spark://a:1"])
def test_whole_batches_wherever_spark_runs(settings: Settings, master: str | None) -> None:
    assert choose_engine(replace(settings, spark=SparkSettings(master))).engine == "batches"


def copies_of(settings: Settings) -> Copies:
    return Copies(settings, nobody, nobody, nobody, nobody, None, None, print)  # type: ignore[arg-type]


def test_smaller_batches_come_of_each_refusal_once(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    """Several streams hear of the same one."""
    copies = copies_of(settings)
    refused = [CopyTrouble("", False, FailureKind.BATCH_REFUSED, size) for size in (262_144, 262_144, 16_384)]
    assert all(map(copies.adapt, refused))
    told = "The target takes no batch of {} bytes; copying again from the safe offsets, all in batches of {}"
    assert caplog.messages == [told.format(262_144, 16_384), told.format(16_384, 1_024)]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, []),
        ({"engine": "records"}, []),
        ({"handler": HandlerSettings("x")}, []),
        ({"receipts": ReceiptSettings("r", 0)}, []),
        ({"source": source_settings(FOREIGN)}, [BY_RECORD]),
    ],
    ids=["batches", "as asked", "with a handler", "with receipts", "fallback"],
)
def test_why_not_batches_is_told_once(
    settings: Settings, caplog: pytest.LogCaptureFixture, more: dict[str, Any], said: list[str]
) -> None:
    caplog.set_level("INFO")
    copies_of(replace(settings, **more))
    assert caplog.messages == said


@pytest.mark.parametrize(
    ("more", "helped", "said"),
    [
        ({}, True, "Copying record by record: why"),
        ({"engine": "records"}, True, "Reading record by record: why"),
        ({"engine": "batches"}, False, None),
    ],
    ids=["batches", "records", "batches as asked"],
)
def test_what_our_sockets_cannot_do_is_left_to_librdkafka(
    settings: Settings, caplog: pytest.LogCaptureFixture, more: dict[str, Any], helped: bool, said: str | None
) -> None:
    """Both streams hear of it, and it is said once."""
    caplog.set_level("INFO")
    copies = copies_of(replace(settings, **more))
    assert [copies.adapt(CopyTrouble("why", fatal=False, kind=FailureKind.ENGINE_UNFIT)) for _ in range(2)] == [
        helped
    ] * 2
    assert caplog.messages == ([] if said is None else [said])


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_login_that_only_batches_has_leaves_no_other_engine(settings: Settings, side: str) -> None:
    """Not even where our sockets cannot do it: librdkafka cannot log in at all."""
    with_token: dict[str, Any] = {
        "source": source_with(settings.source, TOKEN),
        "target": target_with(settings.target, TOKEN),
    }
    asked = replace(settings, **{side: with_token[side]})
    assert only_batches(asked) == "a delegation token"
    assert only_batches(settings) is None
    assert not copies_of(asked).adapt(CopyTrouble("why", fatal=False, kind=FailureKind.ENGINE_UNFIT))
    with pytest.raises(ConfigurationError, match="a delegation token"):
        choose_engine(replace(asked, engine="records"))


@pytest.mark.parametrize(("required", "helped"), [(False, True), (True, False)])
def test_without_a_producer_id_the_order_is_kept_by_one_request_at_a_time(
    settings: Settings, caplog: pytest.LogCaptureFixture, required: bool, helped: bool
) -> None:
    """Unless the user asked for idempotence by name; several streams hear of it."""
    target = replace(target_with(settings.target, {"enable.idempotence": "true"}), idempotence_required=required)
    copies = copies_of(replace(settings, target=target))
    refused = CopyTrouble("no right", fatal=False, kind=FailureKind.IDEMPOTENCE_REFUSED)
    assert [copies.adapt(refused) for _ in range(2)] == [helped] * 2
    assert len(caplog.records) == (1 if helped else 0)
    assert copies._target == (target.client.without_idempotence() if helped else target.client)


@pytest.mark.parametrize("kind", [FailureKind.OTHER, FailureKind.SEND_FAILURE, FailureKind.CORRUPT_RECORDS])
def test_other_troubles_are_not_helped_by_another_config(settings: Settings, kind: FailureKind) -> None:
    assert not copies_of(settings).adapt(CopyTrouble("why", fatal=False, kind=kind))


def test_each_stream_has_a_client_of_its_own(settings: Settings) -> None:
    assert [client_id(settings, stream) for stream in (0, 1)] == ["g-0", "g-1"]
