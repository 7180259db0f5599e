"""The first words on a connection: which API versions the broker knows, and who we are (SASL)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kafka.errors import NoError, UnsupportedVersionError, for_code
from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from legacy_mm import __version__
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clients.net.connection_security import Mechanism
from legacy_mm.clients.net.no_answer import LOOK

Call = Callable[[Any], Any]


class BrokerVersions(NamedTuple):
    """The things that a broker tells about what it speaks."""

    apis: Mapping[int, tuple[int, int]]
    """API -> lowest and highest version."""
    features: Mapping[str, int] = {}
    """Finalized features of its cluster -> level; brokers before 2.7 tell none."""


_NEWEST = 4
OF_0_9 = BrokerVersions(
    {
        0: (0, 1),  # Produce
        1: (0, 1),  # Fetch
        2: (0, 0),  # ListOffsets
        3: (0, 0),  # Metadata
        8: (0, 2),  # OffsetCommit
        9: (0, 1),  # OffsetFetch
        10: (0, 0),  # FindCoordinator
        11: (0, 0),  # JoinGroup
        12: (0, 0),  # Heartbeat
        13: (0, 0),  # LeaveGroup
        14: (0, 0),  # SyncGroup
        15: (0, 0),  # DescribeGroups
        16: (0, 0),  # ListGroups
    }
)
"""The versions that brokers of 0.9 know, and do not tell: they do not answer when they are asked."""
_MOST_ROUNDS = 20
"""The limit of questions and answers in one login; Kerberos needs the most, about four."""


def ask_versions(call: Call) -> BrokerVersions:
    """Return what the broker speaks."""
    version = _NEWEST
    while True:
        answer = call(_about_us(version))
        known = {row.api_key: (int(row.min_version), int(row.max_version)) for row in answer.api_keys}
        error = for_code(answer.error_code)
        if error is NoError:
            return BrokerVersions(known, {row.name: row.max_version_level for row in answer.finalized_features or ()})
        highest = known.get(answer.API_KEY, (0, 0))[1]
        if error is not UnsupportedVersionError or highest >= version:
            raise ConnectionLost(f"the broker does not tell its API versions: {error.__name__}")
        version = highest


def ask_what_0_9_knows() -> Any:
    """Return a question that brokers since 0.9 answer."""
    return ListGroupsRequest(version=0)


def _about_us(version: int) -> Any:
    software = {"client_software_name": "legacy-mm", "client_software_version": __version__} if version >= 3 else {}
    return ApiVersionsRequest(version=version, **software)


def authenticate(call: Call, name: str, mechanism: Mechanism) -> float:
    """Log in by a SASL mechanism; the seconds that the login lasts, 0 for ever. Raises AuthenticationFailed."""
    handshake = call(SaslHandshakeRequest(mechanism=name, min_version=1))
    if (error := for_code(handshake.error_code)) is not NoError:
        offered = ", ".join(handshake.mechanisms)
        offer = f"offered are {offered}" if offered else f"that listener wants no login: {LOOK}"
        raise AuthenticationFailed(f"SASL {name} mechanism handshake failed: {error.__name__}; {offer}")
    lifetime_ms = 0
    for _ in range(_MOST_ROUNDS):
        if mechanism.is_done():
            break
        answer = call(SaslAuthenticateRequest(_said_by(mechanism)))
        if (error := for_code(answer.error_code)) is not NoError:
            raise AuthenticationFailed(f"SASL authentication error: {answer.error_message or error.__name__}")
        _hear(mechanism, bytes(answer.auth_bytes))
        lifetime_ms = answer.session_lifetime_ms or 0
    if not mechanism.is_authenticated():
        raise AuthenticationFailed(f"SASL authentication error: {name} ended without a login")
    return max(0, lifetime_ms) / 1000


def _said_by(mechanism: Mechanism) -> bytes:
    try:
        return mechanism.auth_bytes()
    except LegacyMMError:
        raise
    except Exception as error:
        raise _broken(error) from error


def _hear(mechanism: Mechanism, words: bytes) -> None:
    try:
        mechanism.receive(words)
    except LegacyMMError:
        raise
    except Exception as error:
        raise _broken(error) from error


def _broken(error: Exception) -> AuthenticationFailed:
    return AuthenticationFailed(f"SASL authentication error: {type(error).__name__}: {error}")
