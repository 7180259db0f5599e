"""Effects of a change at the target on records and clients, for readers of a plan or the log.

Only harmful changes have an effect: records that go, weaker acknowledgements, access that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from legacy_mm.policies.changes import AddPartitions, Change, CreateAcl, DeleteAcl, DeleteConfig, SetConfig, SetQuota

_POLICY = "cleanup.policy"
_WRITERS = ("WRITE", "ALL")
_BY_DEFAULT = "the brokers' default holds from then on, and may keep less"


@dataclass(frozen=True, slots=True, order=True)
class Effect:
    """The effect of a change; the larger number is the worse one."""

    danger: int
    text: str


LOSES_RECORDS, WEAKENS, CHANGES_ACCESS, CANNOT_BE_UNDONE = 4, 3, 2, 1
_NONE = Effect(0, "")


def effect(change: Change) -> Effect:
    """Return what the change does besides what its text says; danger 0 and no text where it does no harm."""
    if isinstance(change, SetConfig):
        return _of_value(change.name, change.old, change.new)
    if isinstance(change, DeleteConfig):
        rule = _PROPERTIES.get(change.name)
        risky = rule is not None or change.name == _POLICY
        return Effect(rule.danger if rule else LOSES_RECORDS, _BY_DEFAULT) if risky else _NONE
    if isinstance(change, AddPartitions):
        return Effect(CANNOT_BE_UNDONE, "records of a key go to another partition from now on; it cannot be undone")
    if isinstance(change, DeleteAcl):
        ending = "whom it refused is let in" if change.rule.forbids else "whom it let in is refused"
        return Effect(CHANGES_ACCESS, ending)
    if isinstance(change, SetQuota) and (change.old is None or change.new < change.old):
        return Effect(CHANGES_ACCESS, "its clients are slowed down at the target where they go beyond")
    if isinstance(change, CreateAcl) and change.rule.forbids and change.rule.operation in _WRITERS:
        return Effect(CHANGES_ACCESS, "the mirror itself may not write any more, if it logs in as one of these")
    return _NONE


def worst_first(changes: Iterable[Change]) -> list[Change]:
    """Return the changes by danger; those of equal danger keep their order."""
    return sorted(changes, key=lambda change: -effect(change).danger)


def describe_change(change: Change) -> str:
    """Return the change in one line, with its effect."""
    found = effect(change)
    return f"{change.text} ({found.text})" if found.text else change.text


@dataclass(frozen=True, slots=True)
class _Rule:
    danger: int
    text: str
    hurts: Callable[[str | None, str], bool]
    """A function that returns True if the change from the old value (None: no own value) to the new one does harm."""


def _of_value(name: str, old: str | None, new: str) -> Effect:
    if name == _POLICY:
        return _of_policy(_words(old or ""), _words(new), unset=old is None)
    rule = _PROPERTIES.get(name)
    return Effect(rule.danger, rule.text) if rule is not None and rule.hurts(old, new) else _NONE


def _of_policy(old: frozenset[str], new: frozenset[str], *, unset: bool) -> Effect:
    if "delete" in new and "delete" not in old and not unset:
        return Effect(LOSES_RECORDS, "becomes delete: old records will be removed")
    if "compact" in new and "compact" not in old:
        text = "becomes compact: only the last record of each key will be kept, and records without a key are refused"
        return Effect(LOSES_RECORDS, text)
    return _NONE


def _words(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, text.split(","))))


def _less(old: str | None, new: str) -> bool:
    """Return True if a limit shrinks, or may; a negative number is no limit."""
    try:
        return old is None or _limit(new) < _limit(old)
    except ValueError:
        return False


def _limit(text: str) -> float:
    return float("inf") if int(text) < 0 else int(text)


def _becomes_true(_: str | None, new: str) -> bool:
    return new.lower() == "true"


_REMOVED = "records beyond it will be removed"
_PROPERTIES: Mapping[str, _Rule] = {
    "retention.ms": _Rule(LOSES_RECORDS, _REMOVED, _less),
    "retention.bytes": _Rule(LOSES_RECORDS, _REMOVED, _less),
    "delete.retention.ms": _Rule(WEAKENS, "deletions of keys are forgotten earlier", _less),
    "max.compaction.lag.ms": _Rule(WEAKENS, "older records of a key go earlier", _less),
    "min.compaction.lag.ms": _Rule(WEAKENS, "older records of a key go earlier", _less),
    "min.insync.replicas": _Rule(WEAKENS, "fewer replicas stand behind an acknowledgement", _less),
    "unclean.leader.election.enable": _Rule(WEAKENS, "acknowledged records may be lost with a leader", _becomes_true),
    "max.message.bytes": _Rule(WEAKENS, "larger records will be refused", _less),
    "message.timestamp.before.max.ms": _Rule(WEAKENS, "records with older timestamps will be refused", _less),
    "message.timestamp.after.max.ms": _Rule(WEAKENS, "records with later timestamps will be refused", _less),
    "message.timestamp.difference.max.ms": _Rule(WEAKENS, "records with other timestamps will be refused", _less),
}
