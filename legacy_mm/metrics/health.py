"""Answers of `/healthz` and `/readyz`.

Alive is a process that has not failed: also one that is starting, waits for a cluster that is away, or is being
stopped by a signal, because to be killed would help none of them. Ready is one that runs, whose streams are all
members of their group with an assignment, be it an empty one, and whose records do not wait for a target topic that
cannot be written; where a process runs several flows, all of them. A rebalance leaves a stream ready; being thrown
out of the group, or having no topic to subscribe to, does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from http import HTTPStatus
from typing import NamedTuple


class Phase(Enum):
    """The phase of the process's life."""

    STARTING = "is starting"
    RUNNING = "is running"
    STOPPING = "is stopping, as a signal asked"
    FAILED = "has failed and is ending"


class State(NamedTuple):
    """The facts that a probe asks about."""

    phase: Phase
    outside: Collection[str]
    """Client ids of streams that are no members of their group."""
    unwritable: Mapping[str, str]
    """Target topics that records wait for, and why they cannot be written."""
    failed: Mapping[str, str] = {}
    """Flows that do not run while the others do, and why."""


def death(state: State) -> str:
    """Return why the process is better replaced, or an empty text."""
    return str(state.phase.value) if state.phase is Phase.FAILED else ""


def unreadiness(state: State) -> str:
    """Return why not all of it copies, or an empty text."""
    if state.phase is not Phase.RUNNING:
        return str(state.phase.value)
    if state.failed:
        return f"not running: {', '.join(f'{flow} ({why})' for flow, why in sorted(state.failed.items()))}"
    if state.outside:
        return f"without an assignment: {', '.join(sorted(state.outside))}"
    waits = [f"{topic} ({why})" for topic, why in sorted(state.unwritable.items())]
    return f"cannot write to: {', '.join(waits)}" if waits else ""


PROBES = {"/healthz": death, "/readyz": unreadiness}
"""Path of a probe -> what is wrong."""
TEXT = "text/plain; charset=utf-8"


def answer(probe: str, state: State) -> tuple[HTTPStatus, str]:
    """Return the status and the line that a probe gets."""
    problem = PROBES[probe](state)
    return (HTTPStatus.SERVICE_UNAVAILABLE, f"{problem}\n") if problem else (HTTPStatus.OK, "ok\n")
