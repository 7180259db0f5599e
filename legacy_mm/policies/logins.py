"""Logins that librdkafka's wheel does not have, and settings of a group that only librdkafka has."""

from __future__ import annotations

import re
from collections.abc import Mapping

from legacy_mm.base.kafka_clients import (
    KERBEROS,
    ConnectionSettings,
    ConsumerSettings,
    MembershipSettings,
    SaslSettings,
)

_EXTENSION_NAME, _EXTENSION_VALUE = re.compile("[A-Za-z]+"), re.compile(r"[\x21-\x7E \t\r\n]+")
_EAGER = {"range", "roundrobin"}


def beyond_librdkafka(settings: ConnectionSettings) -> str | None:
    """Return the name of this login, where librdkafka lacks it."""
    sasl = settings.sasl
    if not settings.protocol.logs_in:
        return None
    if sasl.mechanism == KERBEROS:
        return f"sasl.mechanism={KERBEROS}"
    if sasl.delegation_token:
        return "a delegation token"
    if any(text[:1].strip() == "" for text in _trimmed(sasl)):
        return "a user name or password that begins with a blank or is empty"
    return None


def membership_obstacle(settings: MembershipSettings) -> str | None:
    """Return the group setting of this consumer that only librdkafka supports."""
    if settings.protocol != "classic":
        return f"group.protocol={settings.protocol}"
    return None if set(settings.assignors) <= _EAGER else f"the assignor {','.join(settings.assignors)}"


def membership_remedy(settings: MembershipSettings) -> str:
    """Return what to write instead of the group setting that only librdkafka supports."""
    if settings.protocol != "classic":
        return "set group.protocol=classic"
    return "set partition.assignment.strategy to the range or the roundrobin assignor"


def librdkafka_keeps_membership(settings: ConsumerSettings, *, tuned: bool) -> bool:
    """Return True if librdkafka, and not ours, is this consumer's member of the group.

    `tuned`: the user has written properties that only librdkafka reads.
    """
    wanted = tuned or membership_obstacle(settings.membership) is not None
    return wanted and beyond_librdkafka(settings.connection) is None


def unfit_extension(extensions: Mapping[str, str]) -> str | None:
    """Return the reason, in Java's words, why these SASL extensions of OAUTHBEARER cannot be sent."""
    for name, value in extensions.items():
        if name == "auth":
            return f"Extension name {name} is reserved"
        if not _EXTENSION_NAME.fullmatch(name):
            return f"Extension name {name} is invalid"
        if not _EXTENSION_VALUE.fullmatch(value):
            return f"The value of the extension {name} is invalid"
    return None


def _trimmed(sasl: SaslSettings) -> list[str]:
    """Return words that Java takes as they are. librdkafka cuts blanks off their beginning, and takes no empty one."""
    names = (sasl.username, sasl.oauth.client_id)
    secrets = (sasl.password, sasl.oauth.client_secret)
    return [name for name in names if name is not None] + [word.reveal() for word in secrets if word is not None]
