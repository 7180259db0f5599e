"""The session time-outs that a group's coordinator allows, asked when it has refused one."""

from __future__ import annotations

from functools import partial

from legacy_mm.clients.cluster.broker_properties import broker_properties
from legacy_mm.clients.cluster.coordinator import Coordinator
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.policies.broker_limits import SESSION_LIMITS, session_beyond
from legacy_mm.protocol.error_codes import ErrorCode


def allowed_session(coordinator: Coordinator, code: int, seconds: float, within: float) -> str:
    """Return what stands behind the broker's error about a session of so many seconds; empty for every other error.

    It is empty, too, where the broker does not tell `within` so many seconds.
    """
    if code != ErrorCode.INVALID_SESSION_TIMEOUT:
        return ""
    try:
        node, ask = coordinator.reach(within).node, partial(coordinator.call, timeout=within)
        told = {} if node is None else broker_properties(ask, node, SESSION_LIMITS)
    except (ConnectionLost, ClusterUnreachable):
        return ""
    return "".join(f"; {each}" for each in session_beyond(seconds, told))
