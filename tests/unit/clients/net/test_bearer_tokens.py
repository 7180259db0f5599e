"""Tokens: made here, or got from a service once for many logins."""

from __future__ import annotations

import base64
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.clock import wall
from legacy_mm.base.kafka_clients import MskIamSettings
from legacy_mm.clients.net.bearer_tokens import Tokens, unsupported
from legacy_mm.clients.net.connection_errors import AuthenticationFailed, ConnectionLost
from tests.fixtures import client_settings
from tests.fixtures.token_service import CLIENT, LIFE, SECRET, TokenService, listening
from tests.unit.certificates import certify, key_pem, pem

NOW = 1_700_000_000.0


def claims(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def of(service: str, secret: str = SECRET) -> dict[str, str]:
    return {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": service,
        "sasl.oauthbearer.client.id": CLIENT,
        "sasl.oauthbearer.client.secret": secret,
        "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,pool=p",
    }


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [NOW]
    monkeypatch.setattr("legacy_mm.clients.net.bearer_tokens.wall", lambda: now[0])
    return now


def test_an_unsecured_token(clock: list[float]) -> None:
    config = "principal=mirror principalClaimName=user scope=a,b scopeClaimName=roles lifeSeconds=60 extension_x=1"
    tokens = Tokens(
        client_settings.read_connection(
            {"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": config}
        ).sasl
    )
    assert claims(tokens.token()) == {"user": "mirror", "iat": NOW, "exp": NOW + 60, "roles": ["a", "b"]}
    assert tokens.token().endswith(".")
    assert tokens.extensions() == {"x": "1"}


def test_an_unsecured_token_is_of_no_time_to_come(clock: list[float]) -> None:
    """A broker rounds to milliseconds, and may look in the same one: 0.6 ms of it are over."""
    clock[0] += 0.9996
    tokens = Tokens(client_settings.read_connection({"sasl.oauthbearer.config": "principal=mirror"}).sasl)
    assert round(claims(tokens.token())["iat"] * 1000) <= int(clock[0] * 1000)


def test_a_token_is_used_for_four_fifths_of_its_life(clock: list[float]) -> None:
    tokens = Tokens(
        client_settings.read_connection({"sasl.oauthbearer.config": "principal=mirror lifeSeconds=100"}).sasl
    )
    first = tokens.token()
    clock[0] += 79
    assert tokens.token() == first
    clock[0] += 2
    assert tokens.token() != first


def test_a_token_that_cannot_be_renewed_is_good_until_its_end(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service is not asked again for every connection meanwhile."""
    tokens = Tokens(
        client_settings.read_connection({"sasl.oauthbearer.config": "principal=mirror lifeSeconds=100"}).sasl
    )
    first, fetch, asked = tokens.token(), tokens._fetch, []

    def away() -> Any:
        asked.append(clock[0])
        raise OSError("away")

    monkeypatch.setattr(tokens, "_fetch", away)
    for later in (81, 85, 92):
        clock[0] = NOW + later
        assert tokens.token() == first
    assert asked == [NOW + 81, NOW + 92]
    clock[0] = NOW + 103
    with pytest.raises(ConnectionLost, match="away"):
        tokens.token()
    monkeypatch.setattr(tokens, "_fetch", fetch)
    assert tokens.token() != first


def test_a_service_is_asked_once(token_service: TokenService) -> None:
    tokens = Tokens(client_settings.read_connection(of(token_service.url)).sasl)
    first = tokens.token()
    assert claims(first)["exp"] - claims(first)["iat"] == LIFE
    assert tokens.token() == first
    assert token_service.given == 1
    assert tokens.extensions() == {"logicalCluster": "lkc-1", "pool": "p"}


def test_a_service_is_asked_for_an_audience(token_service: TokenService) -> None:
    """It may give a token that only it can read; its life is in the answer."""
    properties = {**of(token_service.url), "oauth.audience": "kafka & co", "sasl.oauthbearer.scope": "a b"}
    del properties["sasl.oauthbearer.method"]
    tokens, opaque = (Tokens(client_settings.read_connection(properties).sasl) for _ in range(2))
    assert claims(tokens.token())["exp"] == pytest.approx(tokens._end)
    wanted = {"grant_type": ["client_credentials"], "scope": ["a b"], "audience": ["kafka & co"]}
    assert token_service.asked == wanted
    assert tokens.extensions() == {"logicalCluster": "lkc-1", "pool": "p"}
    token_service.token = "opaque"
    before = wall()
    assert opaque.token() == "opaque"
    assert before + LIFE <= opaque._end <= wall() + LIFE


def test_a_token_in_a_file_is_read_again(tmp_path: Path, clock: list[float]) -> None:
    file = tmp_path / "token"
    file.write_text(f"{unsigned(exp=NOW + 100)}\n")
    tokens = Tokens(client_settings.read_connection({"oauth.token_file": str(file)}).sasl)
    assert tokens.token() == unsigned(exp=NOW + 100)
    file.write_text(unsigned(exp=NOW + 200))
    clock[0] += 81
    assert tokens.token() == unsigned(exp=NOW + 200)


def unsigned(**claims: object) -> str:
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in ({}, claims)) + "."


@pytest.mark.parametrize(
    ("refusal", "kind"), [("invalid_client", AuthenticationFailed), ("temporarily_unavailable", ConnectionLost)]
)
def test_a_service_that_refuses_the_client(token_service: TokenService, refusal: str, kind: type[Exception]) -> None:
    token_service.refusal = refusal
    said = "^Failed to acquire SASL OAUTHBEARER token: HTTP Error 401"
    with pytest.raises(kind, match=said) as caught:
        Tokens(client_settings.read_connection(of(token_service.url, "hush")).sasl).token()
    assert "hush" not in str(caught.value)


def test_a_service_that_is_away_refuses_nobody() -> None:
    with pytest.raises(ConnectionLost, match="^Failed to acquire SASL OAUTHBEARER token: .*refused"):
        Tokens(client_settings.read_connection(of("http://127.0.0.1:1/token")).sasl).token()


def test_a_signer_of_amazon(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    asked: list[MskIamSettings] = []

    def msk_iam(login: MskIamSettings) -> Any:
        asked.append(login)
        return lambda: ("signed", NOW + 900)

    monkeypatch.setattr("legacy_mm.clients.net.tokens.msk_iam", msk_iam)
    tokens = Tokens(client_settings.read_connection({"oauth.msk_iam": '{"region": "eu"}'}).sasl)
    assert [tokens.token(), tokens.token()] == ["signed", "signed"]
    assert asked == [MskIamSettings("eu")]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"sasl.oauthbearer.grant.type": "urn:jwt-bearer"}, "grant.type=urn:jwt-bearer is not supported"),
        ({"sasl.oauthbearer.token.endpoint.url": "file:///etc/passwd"}, "no address that starts with http"),
    ],
)
def test_which_services_are_asked(changed: dict[str, str], said: str | None) -> None:
    found = unsupported(client_settings.read_connection({**of("https://idp/token"), **changed}).sasl.oauth)
    assert found is None if said is None else said in (found or "")


def of_metadata_service(*addresses: str, password: str = SECRET, **others: str) -> Tokens:
    return Tokens(
        client_settings.read_connection(
            {
                "oauth.metadata_service_urls": ",".join(addresses),
                "sasl.username": CLIENT,
                "sasl.password": password,
                **others,
            }
        ).sasl
    )


def test_a_metadata_service(token_service: TokenService) -> None:
    """One address that does not answer is passed by; a login that is refused ends it."""
    base = token_service.url.removesuffix("/token")
    made = of_metadata_service("http://127.0.0.1:1", f"{base}/")
    assert made.token() == made.token()
    assert token_service.given == 1
    with pytest.raises(AuthenticationFailed):
        of_metadata_service(base, password="wrong").token()
    with pytest.raises(ConnectionLost):
        of_metadata_service("http://127.0.0.1:1").token()


_METADATA = "/security/1.0/authenticate"


def test_a_service_that_has_moved_within_its_origin(token_service: TokenService) -> None:
    base = token_service.url.removesuffix("/token")
    token_service.moved[_METADATA] = f"{base}/new{_METADATA}"
    assert claims(of_metadata_service(base).token())
    first, second = token_service.logins
    assert first == second is not None


def test_another_origin_is_not_told_who_the_client_is(token_service: TokenService) -> None:
    base = token_service.url.removesuffix("/token")
    with listening() as other:
        token_service.moved = dict.fromkeys((_METADATA, "/token"), f"{other.url}{_METADATA}")
        for tokens in (of_metadata_service(base), Tokens(client_settings.read_connection(of(token_service.url)).sasl)):
            with pytest.raises((AuthenticationFailed, ConnectionLost)):
                tokens.token()
        assert other.logins == [None, None]
    assert None not in token_service.logins


def test_https_does_not_lead_to_http(token_service: TokenService, tmp_path: Path) -> None:
    key, certificate = certify("localhost", None, authority=True)
    (tmp_path / "pem").write_text(key_pem(key) + pem(certificate))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "pem")
    with listening(tls) as secured:
        base = f"https://localhost:{secured.server_port}"
        secured.moved = dict.fromkeys((_METADATA, "/token"), f"{token_service.url}{_METADATA}")
        trusted = {"https.ca.pem": pem(certificate)}
        oidc = Tokens(client_settings.read_connection({**of(f"{base}/token"), **trusted}).sasl)
        for tokens in (of_metadata_service(base, **trusted), oidc):
            with pytest.raises(ConnectionLost, match="redirects from https to http: name its own address"):
                tokens.token()
    assert token_service.logins == []


def test_a_token_at_hand() -> None:
    assert Tokens(client_settings.read_connection({"oauth.token": "opaque"}).sasl).token() == "opaque"
