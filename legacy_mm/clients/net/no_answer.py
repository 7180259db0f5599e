"""Words for listeners that do not speak Kafka's protocol, or not as this client does, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence

LOOK = "look at security.protocol and at the port"
_TLS = f"these bytes are TLS, which that listener wants: {LOOK}"
_MEANT = {
    b"\x14\x03": _TLS,
    b"\x15\x03": _TLS,
    b"HT": "these bytes are HTTP, so no broker listens there: look at the port",
}
"""The first bytes of other protocols."""
_FIRST = 2


def closing(begun: bytes, unanswered: Sequence[int]) -> str:
    """Return what to say of a listener that has closed the connection.

    `begun`: the first bytes of the answer that is missing. `unanswered`: the numbers of the questions, from 1 on; the
    first may be the one for API versions, which is answered without a login.
    """
    said = "it closed the connection"
    if (meant := _MEANT.get(begun[:2])) is not None:
        return f"{said}: {meant}"
    is_new = not begun and min(unanswered, default=_FIRST + 1) <= _FIRST
    return f"{said} at the first question, as where TLS or a login is wanted: {LOOK}" if is_new else said


def odd_size(size: int, most: int) -> str:
    """Return what to say of an answer of such a size."""
    said = f"a response of {size} bytes; the most is {most}"
    meant = _MEANT.get(size.to_bytes(4, signed=True)[:2])
    return said if meant is None else f"{said}: {meant}"
