"""Tokens for SASL/OAUTHBEARER: unsecured ones, those of an OIDC service, signed ones for Amazon MSK.

The properties are librdkafka's; what it does with them by itself is done here. A token is asked for again when four
fifths of its life are over. That no token came is no refusal, unless the service says so: it is tried again.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from kafka.net.sasl.oauth import AbstractTokenProvider

from legacy_mm.clients import tokens
from legacy_mm.clients.native import tls_context
from legacy_mm.clients.native.connection_errors import AuthenticationFailed, ConnectionLost
from legacy_mm.clock import wall

Fetch = Callable[[], tuple[str, float]]
"""A token, and when it ends in seconds of the epoch."""
_ASKED = "sasl.oauthbearer."
_LIFE_USED = 0.8
_EXTENSION = "extension_"
_SECONDS, _RETRY_BACKOFF = 20.0, 10.0
"""A token service may take so long to answer; after it failed it is left alone for so long."""
_ANSWER_BYTES = 65_536
_HTTP = ("http://", "https://")


def unsupported(properties: Mapping[str, str]) -> str | None:
    """Return the reason why this program cannot get a token; None when it can."""
    if (
        any(name in properties for name in tokens.PROPERTIES)
        or properties.get("enable.sasl.oauthbearer.unsecure.jwt") == "true"
    ):
        return None
    if properties.get(f"{_ASKED}method") != "oidc":
        return "sasl.mechanism=OAUTHBEARER without a way to get a token"
    if properties.get(f"{_ASKED}grant.type", "client_credentials") != "client_credentials":
        return f"{_ASKED}grant.type={properties[f'{_ASKED}grant.type']} is known to librdkafka only"
    if not properties.get(f"{_ASKED}token.endpoint.url", "").startswith(_HTTP):
        return f"{_ASKED}token.endpoint.url is no address that starts with http:// or https://"
    return None


class Tokens(AbstractTokenProvider):  # type: ignore[misc]
    """The token of one cluster's connections, in the form that kafka-python's mechanism wants."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        super().__init__()
        self._fetch, self._extensions = _source(properties)
        self._lock = Lock()
        self._token, self._end, self._renew_at = "", float("-inf"), float("-inf")

    def token(self) -> str:
        """Return a token that is valid for a while; raise ConnectionLost when none can be had, or AuthenticationFailed.

        A token that cannot be renewed is used until it expires.
        """
        with self._lock:
            now = wall()
            if now >= self._renew_at:
                try:
                    self._token, self._end = self._fetch()
                    self._renew_at = now + (self._end - now) * _LIFE_USED
                except Exception as error:
                    if now >= self._end:
                        kind = AuthenticationFailed if isinstance(error, tokens.ClientRefused) else ConnectionLost
                        raise kind(f"Failed to acquire SASL OAUTHBEARER token: {_reason(error)}") from None
                    self._renew_at = now + _RETRY_BACKOFF
            return self._token

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions that are sent with each token."""
        return self._extensions


def _source(properties: Mapping[str, str]) -> tuple[Fetch, dict[str, str]]:
    if (fetch := tokens.source(properties)) is not None:
        return lambda: fetch(None), {}
    if properties.get(f"{_ASKED}method") == "oidc":
        pairs = filter(None, properties.get(f"{_ASKED}extensions", "").split(","))
        return lambda: _of_service(properties), dict(_pair(text) for text in pairs)
    words = dict(_pair(word) for word in properties.get(f"{_ASKED}config", "").split())
    extensions = {name.removeprefix(_EXTENSION): text for name, text in words.items() if name.startswith(_EXTENSION)}
    return lambda: _unsecured(words), extensions


def _unsecured(words: Mapping[str, str]) -> tuple[str, float]:
    now = wall()
    end = now + int(words.get("lifeSeconds", 3600))
    claims: dict[str, Any] = {words.get("principalClaimName", "sub"): words["principal"], "iat": now, "exp": end}
    if scope := words.get("scope"):
        claims[words.get("scopeClaimName", "scope")] = scope.split(",")
    return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}.", end


def _of_service(properties: Mapping[str, str]) -> tuple[str, float]:
    client = f"{properties[f'{_ASKED}client.id']}:{properties[f'{_ASKED}client.secret']}"
    form = {"grant_type": "client_credentials"}
    if scope := properties.get(f"{_ASKED}scope"):
        form["scope"] = scope
    headers = {
        "Authorization": tokens.basic(client),
        "Accept": "application/json",
    }
    url = properties[f"{_ASKED}token.endpoint.url"]
    request = Request(url, urlencode(form, quote_via=quote).encode(), headers)
    context = _https(properties) if url.startswith("https://") else None
    try:
        with urlopen(request, timeout=_SECONDS, context=context) as response:
            token = str(json.load(response)["access_token"])
    except HTTPError as refused:
        with refused:  # it holds the connection
            if tokens.refuses_the_client(refused.read(_ANSWER_BYTES).decode(errors="replace")):
                raise tokens.ClientRefused(refused) from None
            raise
    return token, float(tokens.claims(token)["exp"])


def _https(properties: Mapping[str, str]) -> ssl.SSLContext:
    made = ssl.create_default_context()
    tls_context.trust(made, properties.get("https.ca.pem"), properties.get("https.ca.location"))
    return made


def _encoded(part: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part, separators=(",", ":")).encode()).decode().rstrip("=")


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _reason(error: Exception) -> str:
    """Return the error text without anything that was sent or received."""
    return str(error) if isinstance(error, OSError) else type(error).__name__
