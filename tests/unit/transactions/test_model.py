"""All states of two owners, one coordinator and a network that loses, delays and repeats what was in doubt.

The product's session has no counterexample. Each session that breaks a rule of it has one.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.transactions.checker import search
from tests.unit.transactions.mutants import IN_BOTH, MUTANTS, MUTANTS_2
from tests.unit.transactions.words import story
from tests.unit.transactions.world import TWO, Faults, Setting

SEEN = "a reader of the target sees the offsets"
APART = "records of s-0 are committed, its position is"
EARLY = "before they are committed"
SELF = "fenced by nobody but itself"
FOUND = {
    "position read before InitProducerId": SEEN,
    "no reading after a new epoch": SEEN,
    "EndTxn(abort) and the same epoch": EARLY,
    "no RENEWING after doubt": APART,
    "commit with an unknown batch": APART,
    "Produce before AddPartitions was answered": APART,
    "two values of B": SEEN,
    "expected epoch on an open transaction": SELF,
    "report before EndTxn is answered": EARLY,
    "no RENEWING after a doubtful claim": APART,
    "RENEWING without the expected epoch": SEEN,
    "RENEWING goes on with another producer id": SEEN,
}
FOUND_2 = {name: FOUND[name] for name in IN_BOTH} | {
    "the epoch of before EndTxn": SELF,
    "the producer id of before EndTxn": SELF,
    "a new producer id at once": SELF,
    "INVALID_TXN_STATE taken for a commit": EARLY,
}
LONG = {"RENEWING without the expected epoch", "RENEWING goes on with another producer id"}
SETTINGS = {
    "nothing happens": Setting(),
    "each piece and marker by itself": Setting(Faults(claims=1), whole=False),
    "a doubt, each piece and marker by itself": Setting(Faults(doubts=1), whole=False),
    "brokers verify": Setting(Faults(doubts=1), verify=True),
    "another owner, three records": Setting(Faults(claims=1), (2, 1)),
    "an id expires under another owner": Setting(Faults(claims=1, expiries=1), (1,)),
    "passing errors": Setting(Faults(claims=1, moves=1), (1,)),
    "crash": Setting(Faults(crashes=1, doubts=1), (1,)),
    "doubts that do not settle": Setting(Faults(doubts=1, overdue=1), (1,)),
    "time-out": Setting(Faults(claims=1, time_outs=1), (1,)),
    "stop": Setting(Faults(stops=1, overdue=1), (1,)),
    "two values of B": Setting(owners=(1, 2), checks_flow=True),
}
SETTINGS_2 = {
    **{name: replace(setting, level=TWO) for name, setting in SETTINGS.items() if not setting.verify},
    "a doubt and another owner": Setting(Faults(claims=1, doubts=1), (1,), level=TWO),
    "epochs are used up": Setting(Faults(claims=1, doubts=1), (1,), level=TWO, last_epoch=3),
    "an id expires when its epochs are used up": Setting(Faults(claims=1, expiries=1), (1,), level=TWO, last_epoch=3),
    "the version changes": Setting(Faults(claims=1, levels=1)),
    "the version changes back": Setting(Faults(claims=1, levels=1), level=TWO),
}
LARGE = {
    "two claims and a doubt": Setting(Faults(claims=1, doubts=1)),
    "a claim and a crash": Setting(Faults(claims=1, crashes=1)),
    "three records of two partitions": Setting(Faults(claims=1), (3, 3)),
    "an id expires in doubt": Setting(Faults(claims=1, doubts=1, expiries=1), (1,)),
    "a stop in doubt": Setting(Faults(stops=1, doubts=1), (1,)),
    "doubts and a time-out": Setting(Faults(doubts=1, time_outs=1, claims=1), (1,)),
}
LARGE_2 = {
    **{name: replace(setting, level=TWO) for name, setting in LARGE.items()},
    "the version changes in doubt": Setting(Faults(claims=1, levels=1, doubts=1), (1,)),
    "the version changes back in doubt": Setting(Faults(claims=1, levels=1, doubts=1), (1,), level=TWO),
    "the version changes and a time-out": Setting(Faults(claims=1, levels=1, time_outs=1), (1,)),
}


def holds(setting: Setting) -> None:
    verdict = search(setting)
    assert not verdict.violation, f"{verdict.violation}\n{story(verdict.trace)}"
    assert verdict.is_whole


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())
def test_readers_see_each_record_once_and_positions_say_so(setting: Setting) -> None:
    holds(setting)


@pytest.mark.parametrize("setting", SETTINGS_2.values(), ids=SETTINGS_2.keys())
def test_so_they_do_with_transaction_version_2(setting: Setting) -> None:
    holds(setting)


@pytest.mark.slow
@pytest.mark.parametrize("setting", LARGE.values(), ids=LARGE.keys())
def test_the_same_in_more_states(setting: Setting) -> None:
    holds(setting)


@pytest.mark.slow
@pytest.mark.parametrize("setting", LARGE_2.values(), ids=LARGE_2.keys())
def test_the_same_in_more_states_with_transaction_version_2(setting: Setting) -> None:
    holds(setting)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in MUTANTS]
)
def test_a_session_that_breaks_a_rule_has_a_counterexample(name: str) -> None:
    verdict = search(MUTANTS[name])
    print(f"{name}: {verdict.violation}\n{story(verdict.trace)}")
    assert FOUND[name] in verdict.violation
    assert len(story(verdict.trace).splitlines()) == len(verdict.trace) > 0


@pytest.mark.parametrize("name", MUTANTS_2)
def test_so_it_has_with_transaction_version_2(name: str) -> None:
    verdict = search(MUTANTS_2[name])
    print(f"{name}: {verdict.violation}\n{story(verdict.trace)}")
    assert FOUND_2[name] in verdict.violation


def test_transaction_version_2_needs_no_renewal_after_doubt() -> None:
    """Every commit ends its epoch, so a late request is one of an earlier epoch."""
    holds(replace(MUTANTS["no RENEWING after doubt"], level=TWO))


def test_brokers_that_verify_close_one_hole() -> None:
    """From 3.6 on a leader asks the coordinator before it takes the first batch of a transaction."""
    setting = replace(MUTANTS["Produce before AddPartitions was answered"], verify=True)
    assert not search(setting, most=3_000).violation, "without a bound: it is refused, and begins again, for ever"


def test_a_network_that_repeats_what_was_answered_breaks_transaction_version_1() -> None:
    """The limit of the promise: a copy of an EndTxn that nobody doubts. A connection of TCP never makes one."""
    verdict = search(Setting(Faults(copies=1)))
    assert APART in verdict.violation
    assert any(label[0] == "copied" for label in verdict.trace)


def test_it_does_not_break_transaction_version_2() -> None:
    holds(Setting(Faults(copies=1), level=TWO))
