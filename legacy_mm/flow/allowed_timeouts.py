"""The time-outs of a flow beside what brokers allow: asked at the start, by commands, for `plan` and for `explain`."""

from __future__ import annotations

from collections.abc import Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import StreamFailure
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.policies.broker_limits import session_beyond, transaction_beyond


def beyond_limits(settings: Settings, source: Admin, target: Admin, deadline: Deadline) -> Sequence[str]:
    """Return a sentence for each time-out that brokers do not allow; none where they do not tell. Raise HostError."""
    found: list[str] = []
    member, exactly_once = settings.source.client.membership, settings.features[EXACTLY_ONCE]
    if settings.streams and member.protocol == "classic":  # in other protocols the brokers have the time-out
        found += session_beyond(member.session_timeout, source.broker_properties(deadline))
    if exactly_once is not None:
        found += transaction_beyond(exactly_once.transaction_timeout, target.broker_properties(deadline))
    return found


def require_allowed(settings: Settings, source: Admin, target: Admin, deadline: Deadline) -> None:
    """Raise StreamFailure, as the refusal of a broker does, if brokers do not allow a time-out; raise HostError."""
    _refuse(beyond_limits(settings, source, target, deadline))


def require_transactions(seconds: float, target: Admin, deadline: Deadline) -> None:
    """Raise the same where it is about the time-out of transactions alone."""
    _refuse(transaction_beyond(seconds, target.broker_properties(deadline)))


def _refuse(reasons: Sequence[str]) -> None:
    if reasons:
        raise StreamFailure("; ".join(reasons))
