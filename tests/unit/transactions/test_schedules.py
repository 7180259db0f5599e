"""Random schedules over the bytes of real requests: three owners, six records, faults all along."""

from __future__ import annotations

import pytest

from legacy_mm.transactions.txn_requests import TransactionVersion
from tests.fakes.txn_bytes import RELEASES
from tests.unit.transactions.mutants import MUTANTS, MUTANTS_2
from tests.unit.transactions.schedules import MANY, RELEASES_2, Walk, in_bytes, walk
from tests.unit.transactions.steps import steps
from tests.unit.transactions.words import story
from tests.unit.transactions.world import ONE, TWO, Setting, ask, begin

SEEDS = range(40)
FOUND_BY = {
    "position read before InitProducerId": 16,
    "no reading after a new epoch": 23,
    "commit with an unknown batch": 3,
    "Produce before AddPartitions was answered": 0,
    "expected epoch on an open transaction": 1,
    "report before EndTxn is answered": 0,
}
"""Mutant -> a seed that finds it: schedules are long enough, and reach what breaks."""


FOUND_BY_2 = {
    "position read before InitProducerId": 41,
    "no reading after a new epoch": 6,
    "commit with an unknown batch": 10,
    "expected epoch on an open transaction": 0,
    "report before EndTxn is answered": 0,
    "the epoch of before EndTxn": 0,
    "the producer id of before EndTxn": 7,
    "a new producer id at once": 25,
    "INVALID_TXN_STATE taken for a commit": 10,
}
MANY_2 = MANY._replace(levels=2)
FEW_EPOCHS = 12


def walked(seed: int, session=Setting.session) -> Walk:
    return walk(seed, Setting(MANY, (3, 3), (1, 1, 1), session))


def walked_2(seed: int, session=Setting.session) -> Walk:
    return walk(seed, Setting(MANY_2, (3, 3), (1, 1, 1), session, level=TWO, last_epoch=FEW_EPOCHS))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_schedule_ends_with_each_record_once(seed: int) -> None:
    found = walked(seed)
    assert not found.violation, f"{found.violation}\n{story(found.trace)}"


@pytest.mark.parametrize("seed", SEEDS)
def test_so_it_does_with_transaction_version_2(seed: int) -> None:
    """The version changes on the way, and the epochs are used up."""
    found = walked_2(seed)
    assert not found.violation, f"{found.violation}\n{story(found.trace)}"


def test_schedules_have_faults() -> None:
    assert sum(walked(seed).faults for seed in SEEDS[:8]) > 30


@pytest.mark.parametrize("mutant", FOUND_BY)
def test_a_session_that_breaks_a_rule_is_found(mutant: str) -> None:
    assert walked(FOUND_BY[mutant], MUTANTS[mutant].session).violation


@pytest.mark.parametrize("mutant", FOUND_BY_2)
def test_so_is_one_that_breaks_a_rule_of_version_2(mutant: str) -> None:
    assert walked_2(FOUND_BY_2[mutant], MUTANTS_2[mutant].session).violation


@pytest.mark.parametrize(
    ("release", "level"), [*((each, ONE) for each in RELEASES), *((each, TWO) for each in RELEASES_2)]
)
def test_bytes_say_what_values_say(release: str, level: TransactionVersion) -> None:
    """Whatever way through the model, to its end: the brokers are the same after each request."""
    world = begin(setting := Setting(MANY, (1,), level=level))
    in_release = in_bytes(RELEASES[release])
    for _ in range(60):
        for message in world.wire:
            brokers, answer = ask(world.brokers, message)
            same, told = in_release(world.brokers, message)
            assert (same, told.request, told.producer, told.offset) == (brokers, *answer_parts(answer))
        following = list(steps(setting, world))
        if not following:
            break
        world = max(following, key=lambda step: len(step[1].brokers.logs) * 100 + hash(step[0]) % 100)[1]
    assert any(log for _, log in world.brokers.logs), "nobody has written"


def answer_parts(answer):
    return answer.request, answer.producer, answer.offset
