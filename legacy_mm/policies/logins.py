"""Logins that librdkafka's wheel does not have: there our own sockets keep the membership, too."""

from __future__ import annotations

from collections.abc import Mapping

TOKEN_AUTH = "sasl.scram.token.auth"
"""Ours, beside librdkafka's names: `true` says that `sasl.username` is the id of a delegation token."""
KERBEROS = "GSSAPI"
_TRIMMED = ("sasl.username", "sasl.password", "sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret")
"""Secrets that Java takes as they are. librdkafka cuts blanks off their beginning, and takes no empty password."""
_EAGER = {"range", "roundrobin"}


def beyond_librdkafka(properties: Mapping[str, str]) -> str | None:
    """Return the name of this login, where librdkafka lacks it."""
    if not properties.get("security.protocol", "").startswith("sasl_"):
        return None
    if properties.get("sasl.mechanism", KERBEROS) == KERBEROS:
        return f"sasl.mechanism={KERBEROS}"
    if properties.get(TOKEN_AUTH) == "true":
        return "a delegation token"
    if any(name in properties and properties[name][:1].strip() == "" for name in _TRIMMED):
        return "a user name or password that begins with a blank or is empty"
    return None


def membership_obstacle(properties: Mapping[str, str]) -> str | None:
    """Return the group setting of this consumer that only librdkafka supports."""
    if properties.get("group.protocol", "classic") != "classic":
        return f"group.protocol={properties['group.protocol']}"
    assignors = properties.get("partition.assignment.strategy", "range")
    return None if set(assignors.split(",")) <= _EAGER else f"the assignor {assignors}"
