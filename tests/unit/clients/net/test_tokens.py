"""Tokens that are fetched here: their ends, and who is asked."""

from __future__ import annotations

import base64
import json

import pytest

from legacy_mm.clients.net import tokens
from tests.fixtures import client_settings

NOW = 1_000.0


def token(**claims: object) -> str:
    """A JSON web token, not signed."""
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def source(**properties: str) -> tokens.TokenSource | None:
    named = {f"oauth.{name}": text for name, text in properties.items()}
    return tokens.source(client_settings.read_connection(named).sasl)


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "wall", lambda: NOW)


def test_claims_of_any_length_are_read() -> None:
    for subject in ("", "a", "ab", "abc"):
        assert tokens.claims(token(sub=subject)) == {"sub": subject}


@pytest.mark.parametrize("text", [token(sub="x"), token(exp="soon"), "opaque", "a.b.c", ""])
def test_a_token_without_an_end_lasts_a_year(text: str) -> None:
    assert tokens.end_of(text) == NOW + 365 * 86_400


def test_a_token_that_was_given_is_used_until_its_end() -> None:
    given = token(exp=2_000)
    fetch = source(token=given)
    assert fetch is not None and fetch() == (given, 2_000.0, "", {})


def test_librdkafka_fetches_what_nothing_here_can() -> None:
    assert source() is None


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        ('{"error": "invalid_client"}', True),
        ('{"error" : "unauthorized_client", "error_description": "x"}', True),
        ('{"error": "temporarily_unavailable"}', False),
        ("", False),
    ],
)
def test_who_is_refused_for_good(answer: str, refused: bool) -> None:
    assert tokens.refuses_the_client(answer) == refused


def test_a_user_is_told_by_basic_authentication() -> None:
    assert tokens.basic("Aladdin:open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
