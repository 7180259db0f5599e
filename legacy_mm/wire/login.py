"""The first words on a connection: which API versions the broker knows, and who we are (SASL)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka.errors import NoError, UnsupportedVersionError, for_code
from kafka.protocol.metadata import ApiVersionsRequest

from legacy_mm import __version__
from legacy_mm.wire.errors import ConnectionLost
from legacy_mm.wire.security import Security

Call = Callable[[Any], Any]
_NEWEST = 4


def ask_versions(call: Call) -> dict[int, tuple[int, int]]:
    """API -> lowest and highest version that the broker knows."""
    version = _NEWEST
    while True:
        answer = call(_about_us(version))
        known = {row.api_key: (int(row.min_version), int(row.max_version)) for row in answer.api_keys}
        error = for_code(answer.error_code)
        if error is NoError:
            return known
        highest = known.get(answer.API_KEY, (0, 0))[1]
        if error is not UnsupportedVersionError or highest >= version:
            raise ConnectionLost(f"the broker does not tell its API versions: {error.__name__}")
        version = highest


def _about_us(version: int) -> Any:
    software = {"client_software_name": "legacy-mm", "client_software_version": __version__} if version >= 3 else {}
    return ApiVersionsRequest(version=version, **software)


def authenticate(call: Call, security: Security, host: str) -> float:
    """Log in; the seconds that the login lasts, 0 for ever."""
    raise NotImplementedError
