"""Tokens for SASL/OAUTHBEARER that librdkafka cannot fetch itself.

A client's settings ask for them, and librdkafka gets them by a callback.
"""

from __future__ import annotations

import base64
import importlib
import json
import re
import ssl
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener, urlopen

from legacy_mm.clock import wall
from legacy_mm.config.kafka_clients import MskIamSettings, SaslSettings

MSK_SIGNER = "aws_msk_iam_sasl_signer"
TokenCallback = Callable[[Any], tuple[str, float]]
"""librdkafka's `oauth_cb`: returns a token, and its end in seconds since 1970."""
_MILLISECONDS = 1000
_CLIENT_REFUSED = re.compile(r'"error"\s*:\s*"(?:invalid_|unauthorized_client|unsupported_grant_type)')
_LOGIN = "/security/1.0/authenticate"
_TIMEOUT = 20.0
_UNAUTHORIZED, _NOT_FOUND = 401, 404
_DIRECTLY = build_opener(ProxyHandler({}))
"""Loopback is reached without the host's proxy."""
_LIFE_WITHOUT_END = 365 * 86_400.0
"""Time for which a token without an end is used."""


class ClientRefused(OSError):
    """The token service refuses a token to this client."""


def refuses_the_client(answer: str) -> bool:
    """Return True if a token service says, in the words of RFC 6749, that this client gets no token."""
    return _CLIENT_REFUSED.search(answer) is not None


def source(sasl: SaslSettings) -> TokenCallback | None:
    """Return the function that fetches tokens; None if librdkafka fetches them or none are needed."""
    oauth = sasl.oauth
    if oauth.msk_iam:
        return msk_iam(oauth.msk_iam)
    if oauth.token:
        given = oauth.token.reveal()
        return lambda _: (given, end_of(given))
    if oauth.metadata_service_urls:
        addresses = oauth.metadata_service_urls.split(",")
        user_and_password = f"{sasl.username or ''}:{sasl.password.reveal() if sasl.password else ''}"
        return lambda _: _of_metadata_service(addresses, user_and_password, (oauth.ca_pem, oauth.ca_location))
    if oauth.keeper:
        keeper = oauth.keeper.reveal()
        return lambda _: _of_keeper(keeper)
    return None


def claims(token: str) -> dict[str, Any]:
    """Return the claims of a JSON web token; raises ValueError or IndexError if it is not one."""
    body = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def end_of(token: str) -> float:
    """Return the end of a token in seconds since 1970; a year from now if it names none."""
    try:
        return float(claims(token)["exp"])
    except (ValueError, IndexError, KeyError, TypeError):
        return wall() + _LIFE_WITHOUT_END


def basic(user_and_password: str) -> str:
    """Return the HTTP header value for basic authentication."""
    return f"Basic {base64.b64encode(user_and_password.encode()).decode()}"


def msk_iam(login: MskIamSettings) -> TokenCallback:
    """Return a source of signed tokens for Amazon MSK."""

    def token(_: Any) -> tuple[str, float]:
        signer = importlib.import_module(f"{MSK_SIGNER}.MSKAuthTokenProvider")
        if login.role is not None:
            signed, end = signer.generate_auth_token_from_role_arn(login.region, login.role, login.session)
        elif login.profile is not None:
            signed, end = signer.generate_auth_token_from_profile(login.region, login.profile)
        else:
            signed, end = signer.generate_auth_token(login.region)
        return signed, end / _MILLISECONDS

    return token


def _of_keeper(address: str) -> tuple[str, float]:
    """Ask this host's own keeper; raises ClientRefused, or OSError with the class's reason."""
    try:
        with _DIRECTLY.open(address, timeout=_TIMEOUT) as response:
            answer = json.load(response)
        return str(answer["token"]), float(answer["end"])
    except HTTPError as refused:
        with refused:
            reason = json.load(refused)["reason"] if refused.code != _NOT_FOUND else "the keeper does not know it"
            raise (ClientRefused if refused.code == _UNAUTHORIZED else OSError)(reason) from None


def _of_metadata_service(
    addresses: list[str], user_and_password: str, trusted: tuple[str | None, str | None]
) -> tuple[str, float]:
    """Ask one address after the other; raises OSError of the last one, ClientRefused at once."""
    last: Exception = OSError("no address")
    for address in addresses:
        request = Request(address.strip().rstrip("/") + _LOGIN, headers={"Authorization": basic(user_and_password)})
        context = None
        if request.type == "https":
            pem, location = trusted
            context = ssl.create_default_context(cafile=location, cadata=pem)
        try:
            with urlopen(request, timeout=_TIMEOUT, context=context) as response:
                answer = json.load(response)
            return str(answer["auth_token"]), wall() + float(answer["expires_in"])
        except HTTPError as refused:
            with refused:  # the error holds the connection
                if refused.code in (_UNAUTHORIZED, 403):
                    raise ClientRefused(f"HTTP status {refused.code}") from None
            last = refused
        except (OSError, ValueError, KeyError) as error:
            last = error
    raise last
