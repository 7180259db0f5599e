"""Which errors of our sockets a later try may mend."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import LegacyMMError
from legacy_mm.clients.net.connection_errors import (
    AuthenticationFailed,
    ClusterUnreachable,
    ConnectionLost,
    ProducerForgotten,
    RequestRefused,
    UnsupportedVersion,
)


@pytest.mark.parametrize(
    ("kind", "retriable"),
    [
        (ConnectionLost, True),
        (ClusterUnreachable, True),
        (ProducerForgotten, True),
        (AuthenticationFailed, False),
        (UnsupportedVersion, False),
        (RequestRefused, False),
    ],
)
def test_what_may_pass(kind: type[LegacyMMError], retriable: bool) -> None:
    error = kind("why")
    assert (error.retriable, str(error)) == (retriable, "why")
    assert error.exit_code in (1, 255)
