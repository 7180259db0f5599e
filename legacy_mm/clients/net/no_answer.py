"""Words for listeners that do not speak Kafka's protocol, or not as this client does, and what to look at."""

from __future__ import annotations

LOOK = "look at security.protocol and at the port"
_TLS = f"these bytes are TLS, which that listener wants: {LOOK}"
_MEANT = {
    b"\x14\x03": _TLS,
    b"\x15\x03": _TLS,
    b"HT": "these bytes are HTTP, so no broker listens there: look at the port",
}
"""The first bytes of other protocols."""


def closing(begun: bytes, *, answered: bool) -> str:
    """Return what to say of a listener that has closed the connection.

    `begun`: the first bytes of the answer that is missing. `answered`: it has spoken with us as we do.
    """
    said = "it closed the connection"
    if (meant := _MEANT.get(begun[:2])) is not None:
        return f"{said}: {meant}"
    return said if answered or begun else f"{said} without an answer, as where TLS or a login is wanted: {LOOK}"


def odd_size(size: int, most: int) -> str:
    """Return what to say of an answer of such a size."""
    said = f"a response of {size} bytes; the most is {most}"
    meant = _MEANT.get(size.to_bytes(4, signed=True)[:2])
    return said if meant is None else f"{said}: {meant}"
