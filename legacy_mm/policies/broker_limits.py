"""Time-outs that a broker does not allow, each with its sentence: what it allows, what is set, what to change. Pure.

A broker that does not tell its properties allows everything here: it refuses by itself, later.
"""

from __future__ import annotations

from collections.abc import Mapping

_LEAST_SESSION, _MOST_SESSION = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
SESSION_LIMITS = (_LEAST_SESSION, _MOST_SESSION)
"""The properties of a broker of the source that bound `session.timeout.ms`."""
_MOST_TRANSACTION = "transaction.max.timeout.ms"
TRANSACTION_LIMITS = (_MOST_TRANSACTION,)
"""The properties of a broker of the target that bound the time-out of transactions."""


def session_beyond(seconds: float, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is wrong with the session time-out of a member of the group at the source."""
    wanted, least, most = _ms(seconds), _number(properties, _LEAST_SESSION), _number(properties, _MOST_SESSION)
    if most is not None and wanted > most:
        return (
            f"session.timeout.ms={wanted} of the consumer is above {_MOST_SESSION}={most} of the source's brokers: "
            f"set session.timeout.ms to {most} at most",
        )
    if least is not None and wanted < least:
        return (
            f"session.timeout.ms={wanted} of the consumer is below {_LEAST_SESSION}={least} of the source's brokers: "
            f"set session.timeout.ms to {least} at least",
        )
    return ()


def transaction_beyond(seconds: float, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is wrong with the time-out of transactions at the target."""
    wanted, most = _ms(seconds), _number(properties, _MOST_TRANSACTION)
    if most is None or wanted <= most:
        return ()
    return (
        f"exactly.once.transaction.timeout.ms={wanted} is above {_MOST_TRANSACTION}={most} of the target's brokers: "
        f"set exactly.once.transaction.timeout.ms to {most} at most",
    )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _number(properties: Mapping[str, str], name: str) -> int | None:
    text = properties.get(name, "")
    return int(text) if text.isdecimal() else None
