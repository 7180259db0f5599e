"""Random schedules over the bytes of real requests: three owners, six records, faults all along."""

from __future__ import annotations

import pytest

from tests.fakes.txn_bytes import RELEASES
from tests.unit.exactly_once.mutants import MUTANTS
from tests.unit.exactly_once.schedules import MANY, Walk, in_bytes, walk
from tests.unit.exactly_once.steps import steps
from tests.unit.exactly_once.words import story
from tests.unit.exactly_once.world import Setting, ask, begin

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


def walked(seed: int, session=Setting.session) -> Walk:
    return walk(seed, Setting(MANY, (3, 3), (1, 1, 1), session))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_schedule_ends_with_each_record_once(seed: int) -> None:
    found = walked(seed)
    assert not found.violation, f"{found.violation}\n{story(found.trace)}"


def test_schedules_have_faults() -> None:
    assert sum(walked(seed).faults for seed in SEEDS[:8]) > 30


@pytest.mark.parametrize("mutant", FOUND_BY)
def test_a_session_that_breaks_a_rule_is_found(mutant: str) -> None:
    assert walked(FOUND_BY[mutant], MUTANTS[mutant].session).violation


@pytest.mark.parametrize("release", RELEASES)
def test_bytes_say_what_values_say(release: str) -> None:
    """Whatever way through the model: the brokers are the same after each request."""
    world = begin(setting := Setting(MANY, (1,)))
    in_release = in_bytes(RELEASES[release])
    for _ in range(60):
        for message in world.wire:
            brokers, answer = ask(world.brokers, message)
            same, told = in_release(world.brokers, message)
            assert (same, told.request, told.producer, told.offset) == (brokers, *answer_parts(answer))
        world = max(steps(setting, world), key=lambda step: len(step[1].brokers.logs) * 100 + hash(step[0]) % 100)[1]


def answer_parts(answer):
    return answer.request, answer.producer, answer.offset
