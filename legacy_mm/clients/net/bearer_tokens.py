"""Tokens for SASL/OAUTHBEARER: unsecured ones, those of an OIDC service, signed ones for Amazon MSK.

What librdkafka does by itself in a membership that it keeps is done here for all other connections. A token is
asked for again when four fifths of its life are over. That no token came is no refusal, unless the service says so: it
is tried again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from threading import Lock
from typing import Any

from kafka.net.sasl.oauth import AbstractTokenProvider

from legacy_mm.base.clock import wall
from legacy_mm.base.kafka_clients import OAuthSettings, SaslSettings
from legacy_mm.clients.net import tokens
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clients.net.tokens import Granted, TokenSource

_OIDC = "oidc"
_LIFE_USED = 0.8
_EXTENSION = "extension_"
_RETRY_BACKOFF = 10.0
"""After a token service failed it is left alone for so long."""
_HTTP = ("http://", "https://")


def unsupported(oauth: OAuthSettings) -> str | None:
    """Return the reason why this program cannot get a token; None when it can."""
    if oauth.fetched_here or oauth.unsecured:
        return None
    if oauth.method != _OIDC:
        return "sasl.mechanism=OAUTHBEARER without a way to get a token"
    if oauth.grant_type != tokens.CLIENT_CREDENTIALS:
        return (
            f"librdkafka.sasl.oauthbearer.grant.type={oauth.grant_type} is not supported; leave it out for "
            f"{tokens.CLIENT_CREDENTIALS}, or name a login class of a jar in sasl.login.callback.handler.class"
        )
    if not (oauth.token_url or "").startswith(_HTTP):
        return "sasl.oauthbearer.token.endpoint.url is no address that starts with http:// or https://"
    return None


class Tokens(AbstractTokenProvider):  # type: ignore[misc]
    """The token of one cluster's connections, in the form that kafka-python's mechanism wants."""

    def __init__(self, sasl: SaslSettings) -> None:
        super().__init__()
        self._fetch = _source(sasl)
        self._lock = Lock()
        self._token, self._end, self._renew_at = "", float("-inf"), float("-inf")
        self._extensions: dict[str, str] = {}

    def token(self) -> str:
        """Return a token that is valid for a while; raise ConnectionLost when none can be had, or AuthenticationFailed.

        A token that cannot be renewed is used until it expires.
        """
        with self._lock:
            now = wall()
            if now >= self._renew_at:
                try:
                    self._token, self._end, _, self._extensions = self._fetch()
                    self._renew_at = now + (self._end - now) * _LIFE_USED
                except Exception as error:
                    if now >= self._end:
                        kind = AuthenticationFailed if isinstance(error, tokens.ClientRefused) else ConnectionLost
                        raise kind(f"Failed to acquire SASL OAUTHBEARER token: {_reason(error)}") from None
                    self._renew_at = now + _RETRY_BACKOFF
            return self._token

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions that are sent with the last token."""
        return self._extensions


def _source(sasl: SaslSettings) -> TokenSource:
    if (source := tokens.source(sasl)) is not None:
        return source
    oauth = sasl.oauth
    if oauth.method == _OIDC:
        sent = tokens.pairs(oauth.extensions.split(","))
        return lambda: Granted(*tokens.of_service(oauth), "", sent)
    words = tokens.pairs(oauth.claims.split())
    extensions = {name.removeprefix(_EXTENSION): text for name, text in words.items() if name.startswith(_EXTENSION)}
    return lambda: Granted(*_unsecured(words), "", extensions)


def _unsecured(words: Mapping[str, str]) -> tuple[str, float]:
    now = int(wall())  # in whole seconds: a broker rounds, and a token of the coming millisecond is refused
    end = now + int(words.get("lifeSeconds", 3600))
    claims: dict[str, Any] = {words.get("principalClaimName", "sub"): words["principal"], "iat": now, "exp": end}
    if scope := words.get("scope"):
        claims[words.get("scopeClaimName", "scope")] = scope.split(",")
    return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}.", end


def _encoded(part: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part, separators=(",", ":")).encode()).decode().rstrip("=")


def _reason(error: Exception) -> str:
    """Return the error text without anything that was sent or received."""
    return str(error) if isinstance(error, OSError) else type(error).__name__
