"""Settings of the target's topics with which a broker may lose what it has acknowledged. No client can help. Pure."""

from __future__ import annotations

from collections.abc import Mapping

_LEAST, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
_RISKS = (
    (_LEAST, "1", "what only one broker has is lost with it"),
    (_UNCLEAN, "true", "a replica that lags behind may become leader"),
)
_SHOWN = 5


def broker_risks(topics: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """Return a sentence for each setting that is a risk; `topics` is topic -> its properties, the brokers' defaults
    too.
    """
    found = []
    for name, value, why in _RISKS:
        named = sorted(topic for topic, properties in topics.items() if properties.get(name) == value)
        if named:
            more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
            found.append(f"{name}={value} at the target for {', '.join(named[:_SHOWN])}{more}: {why}")
    return tuple(found)
