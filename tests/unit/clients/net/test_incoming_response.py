"""A response that is filled piece by piece: what is missing, when it is checked, and when it is whole."""

from __future__ import annotations

import pytest

from legacy_mm.clients.net.incoming_response import IncomingResponse
from tests.unit.clients.broker import response


@pytest.mark.parametrize("body", [b"", b"x", b"some bytes"])
@pytest.mark.parametrize("step", [1, 3, 8, 100])
def test_it_takes_exactly_its_own_bytes_however_they_are_cut(body: bytes, step: int) -> None:
    checked: list[tuple[int, int]] = []
    incoming = IncomingResponse(lambda *head: checked.append(head))
    raw, used = response(5, body) + b"the next", 0
    while incoming.missing:
        piece = raw[used : used + min(step, len(incoming.missing))]
        incoming.missing[: len(piece)] = piece
        incoming.received(len(piece))
        used += len(piece)
    assert (used, checked) == (len(response(5, body)), [(4 + len(body), 5)])
    assert incoming.body is not None
    assert bytes(incoming.body) == body


def test_no_memory_is_taken_for_what_the_check_refuses() -> None:
    def refuse(size: int, number: int) -> None:
        raise ValueError(size)

    incoming = IncomingResponse(refuse)
    incoming.missing[:] = response(1, b"")[:4] + bytes(4)
    with pytest.raises(ValueError, match="4"):
        incoming.received(8)
    assert incoming.body is None
