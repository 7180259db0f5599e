"""The user's Java class that logs in, really loaded and asked: for tokens, and for SASL extensions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from legacy_mm.base.clock import wall
from legacy_mm.base.errors import ConfigurationError
from legacy_mm.clients.net import tokens
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.login_classes import keeper
from tests.fixtures import client_settings
from tests.fixtures.client_settings import KEEPER

pytestmark = pytest.mark.spark


def asked(jar: Path, **options: str) -> str:
    """What a file says about the class."""
    return json.dumps(
        {
            "class": "Tokens",
            "class_path": [str(jar)],
            "module": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
            "options": {"who": "me", "word": "right", **options},
            "configs": {"bootstrap.servers": ["127.0.0.1:1"]},
        }
    )


@pytest.mark.parametrize(("options", "extensions"), [({}, {}), ({"pool": "p 1"}, {"pool": "p 1"})])
def test_a_token_and_its_extensions(
    jvm: Jvm, handler_jars: dict[str, Path], options: dict[str, str], extensions: dict[str, str]
) -> None:
    """A class that knows no extensions has none, as in Java's login module."""
    address = keeper().address(asked(handler_jars["Tokens"], **options), lambda: jvm)
    fetch = tokens.source(client_settings.read_connection({KEEPER: address}).sasl)
    assert fetch is not None
    granted = fetch()
    assert tokens.claims(granted.token)["sub"] == "me"
    assert wall() < granted.end <= wall() + 600
    assert granted.extensions == extensions


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"word": "wrong"}, "it gives no token: wrong_word"),
        ({"pool": "null"}, "java.lang.NullPointerException: extensions must not be null"),
        ({"pool": ""}, "Extension name pool_id is invalid"),
    ],
)
def test_what_cannot_be_sent_ends_the_start(
    jvm: Jvm, handler_jars: dict[str, Path], options: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"^sasl.login.callback.handler.class: {said}$"):
        keeper().address(asked(handler_jars["Tokens"], **options), lambda: jvm)
