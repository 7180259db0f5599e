"""What `/healthz` and `/readyz` answer.

Alive is a process that has not failed: also one that is starting, waits for a cluster that is away, or is being stopped
by a signal, because to be killed would help none of them. Ready is one that runs and whose streams are all members of
their group with an assignment, be it an empty one. A rebalance leaves a stream ready; being thrown out of the group, or
having no topic to subscribe to, does not.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum


class Phase(Enum):
    """Where in its life the process is."""

    STARTING = "is starting"
    RUNNING = "is running"
    STOPPING = "is stopping, as a signal asked"
    FAILED = "has failed and is ending"


def death(phase: Phase, _: Collection[str]) -> str:
    """Why the process is better replaced, or nothing."""
    return str(phase.value) if phase is Phase.FAILED else ""


def unreadiness(phase: Phase, outside: Collection[str]) -> str:
    """Why not all of it copies, or nothing; `outside` are the client ids of streams that are no members."""
    if phase is not Phase.RUNNING:
        return str(phase.value)
    return f"without an assignment: {', '.join(sorted(outside))}" if outside else ""
