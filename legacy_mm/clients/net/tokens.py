"""Tokens for SASL/OAUTHBEARER that librdkafka cannot fetch itself.

A client's settings ask for them, and librdkafka gets them by a callback.
"""

from __future__ import annotations

import base64
import importlib
import json
import re
import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.client import HTTPMessage
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from legacy_mm.base.clock import wall
from legacy_mm.base.kafka_clients import MskIamSettings, OAuthSettings, SaslSettings
from legacy_mm.clients.net import tls_context

CLIENT_CREDENTIALS = "client_credentials"
"""The grant of a client that proves itself by its secret."""
MSK_SIGNER = "aws_msk_iam_sasl_signer"
FetchToken = Callable[[], tuple[str, float]]
"""A token, and when it ends in seconds since 1970."""


class Granted(NamedTuple):
    """Holds a token, in the form that librdkafka's `oauth_cb` returns."""

    token: str
    end: float
    """In seconds since 1970."""
    principal: str
    """Not used: the broker takes it from the token."""
    extensions: dict[str, str]
    """SASL extensions, which are sent with the token."""


TokenSource = Callable[[], Granted]
_MILLISECONDS = 1000
_CLIENT_REFUSED = re.compile(r'"error"\s*:\s*"(?:invalid_|unauthorized_client|unsupported_grant_type)')
_LOGIN = "/security/1.0/authenticate"
_TIMEOUT = 20.0
"""A token service may take so long to answer."""
_ANSWER_BYTES = 65_536
_UNAUTHORIZED, _NOT_FOUND = 401, 404
_DIRECTLY = build_opener(ProxyHandler({}))
"""Loopback is reached without the host's proxy."""
_CREDENTIALS = ("Authorization", "Proxy-authorization")
"""Headers, as a request spells them."""
_LIFE_WITHOUT_END = 365 * 86_400.0
"""Time for which a token without an end is used."""


class ClientRefused(OSError):
    """The token service refuses a token to this client."""


def refuses_the_client(answer: str) -> bool:
    """Return True if a token service says, in the words of RFC 6749, that this client gets no token."""
    return _CLIENT_REFUSED.search(answer) is not None


def source(sasl: SaslSettings) -> TokenSource | None:
    """Return the function that fetches tokens; None if librdkafka fetches them or none are needed."""
    oauth = sasl.oauth
    if oauth.keeper:
        keeper = oauth.keeper.reveal()
        return lambda: _of_keeper(keeper)
    if (fetch := _fetch(sasl)) is None:
        return None
    extensions = pairs(oauth.extensions.split(","))
    return lambda: Granted(*fetch(), "", extensions)


def _fetch(sasl: SaslSettings) -> FetchToken | None:
    oauth = sasl.oauth
    if oauth.msk_iam:
        return msk_iam(oauth.msk_iam)
    if oauth.token:
        given = oauth.token.reveal()
        return lambda: (given, end_of(given))
    if oauth.token_file is not None:
        file = Path(oauth.token_file)
        return lambda: _of_file(file)
    if oauth.audience is not None:
        return lambda: of_service(oauth)
    if oauth.metadata_service_urls:
        addresses = oauth.metadata_service_urls.split(",")
        user_and_password = f"{sasl.username or ''}:{sasl.password.reveal() if sasl.password else ''}"
        return lambda: _of_metadata_service(addresses, user_and_password, oauth)
    return None


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Return the pairs of texts such as `name=value`."""
    return {name: value for name, _, value in (text.partition("=") for text in texts if text)}


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


def _of_file(file: Path) -> tuple[str, float]:
    """Return the token in a file; raise OSError."""
    found = file.read_text(encoding="utf-8").strip()
    return found, end_of(found)


def of_service(oauth: OAuthSettings) -> tuple[str, float]:
    """Return a token of the service at `token_url`; raise ClientRefused, or OSError, ValueError, KeyError."""
    client = f"{oauth.client_id or ''}:{oauth.client_secret.reveal() if oauth.client_secret else ''}"
    form = {"grant_type": CLIENT_CREDENTIALS}
    form |= {name: text for name, text in (("scope", oauth.scope), ("audience", oauth.audience)) if text}
    headers = {"Authorization": basic(client), "Accept": "application/json"}
    request = Request(oauth.token_url or "", urlencode(form, quote_via=quote).encode(), headers)
    try:
        answer = _answer(request, oauth)
    except HTTPError as refused:
        with refused:  # it holds the connection
            if refuses_the_client(refused.read(_ANSWER_BYTES).decode(errors="replace")):
                raise ClientRefused(refused) from None
            raise
    token = str(answer["access_token"])
    with suppress(ValueError, IndexError, KeyError, TypeError):
        return token, float(claims(token)["exp"])
    return token, wall() + float(answer["expires_in"])


class _Redirects(HTTPRedirectHandler):
    """Tells no other origin who the client is, and leaves https for nothing."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request that follows; raise HTTPError for one that must not."""
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        (scheme, host, *_), (new_scheme, new_host, *_) = urlsplit(req.full_url), urlsplit(newurl)
        if made is None or (scheme, host) == (new_scheme, new_host):
            return made
        if scheme == "https" != new_scheme:
            why = f"the token service at {host} redirects from https to {new_scheme}: name its own address, with https"
            raise HTTPError(req.full_url, code, why, headers, fp)
        for name in _CREDENTIALS:
            made.remove_header(name)
        return made


def _answer(request: Request, oauth: OAuthSettings) -> Any:
    """Return the JSON of the answer; raise OSError or ValueError."""
    tls = [HTTPSHandler(context=_https(oauth))] if request.type == "https" else []
    with build_opener(_Redirects, *tls).open(request, timeout=_TIMEOUT) as response:
        return json.load(response)


def _https(oauth: OAuthSettings) -> ssl.SSLContext:
    made = tls_context.ClientContext(ssl.PROTOCOL_TLS_CLIENT)
    tls_context.trust(made, oauth.ca_pem, oauth.ca_location)
    return made


def basic(user_and_password: str) -> str:
    """Return the HTTP header value for basic authentication."""
    return f"Basic {base64.b64encode(user_and_password.encode()).decode()}"


def msk_iam(login: MskIamSettings) -> FetchToken:
    """Return a source of signed tokens for Amazon MSK."""

    def token() -> tuple[str, float]:
        signer = importlib.import_module(f"{MSK_SIGNER}.MSKAuthTokenProvider")
        if login.role is not None:
            signed, end = signer.generate_auth_token_from_role_arn(login.region, login.role, login.session)
        elif login.profile is not None:
            signed, end = signer.generate_auth_token_from_profile(login.region, login.profile)
        else:
            signed, end = signer.generate_auth_token(login.region)
        return signed, end / _MILLISECONDS

    return token


def _of_keeper(address: str) -> Granted:
    """Ask this host's own keeper; raises ClientRefused, or OSError with the class's reason."""
    try:
        with _DIRECTLY.open(address, timeout=_TIMEOUT) as response:
            answer = json.load(response)
        return Granted(str(answer["token"]), float(answer["end"]), "", dict(answer["extensions"]))
    except HTTPError as refused:
        with refused:
            reason = json.load(refused)["reason"] if refused.code != _NOT_FOUND else "the keeper does not know it"
            raise (ClientRefused if refused.code == _UNAUTHORIZED else OSError)(reason) from None


def _of_metadata_service(addresses: list[str], user_and_password: str, oauth: OAuthSettings) -> tuple[str, float]:
    """Ask one address after the other; raises OSError of the last one, ClientRefused at once."""
    last: Exception = OSError("no address")
    for address in addresses:
        request = Request(address.strip().rstrip("/") + _LOGIN, headers={"Authorization": basic(user_and_password)})
        try:
            answer = _answer(request, oauth)
            return str(answer["auth_token"]), wall() + float(answer["expires_in"])
        except HTTPError as refused:
            with refused:  # the error holds the connection
                if refused.code in (_UNAUTHORIZED, 403):
                    raise ClientRefused(f"HTTP status {refused.code}") from None
            last = refused
        except (OSError, ValueError, KeyError) as error:
            last = error
    raise last
