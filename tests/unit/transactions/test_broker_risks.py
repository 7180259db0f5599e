"""Settings of brokers that break the promise."""

from __future__ import annotations

from legacy_mm.transactions.broker_risks import broker_risks

SAFE = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}


def test_safe_topics_are_not_named() -> None:
    assert broker_risks({"a": SAFE, "b": {}}) == ()


def test_each_setting_has_its_sentence() -> None:
    found = broker_risks(
        {"a": SAFE | {"min.insync.replicas": "1"}, "b": SAFE | {"unclean.leader.election.enable": "true"}}
    )
    assert found == (
        "min.insync.replicas=1 at the target for a: what only one broker has is lost with it",
        "unclean.leader.election.enable=true at the target for b: a replica that lags behind may become leader",
    )


def test_many_topics_are_counted() -> None:
    (found,) = broker_risks({f"t{number}": {"min.insync.replicas": "1"} for number in range(9)})
    assert "for t0, t1, t2, t3, t4 and 4 more:" in found
