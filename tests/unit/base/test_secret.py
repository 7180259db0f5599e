from __future__ import annotations

from dataclasses import dataclass

import pytest

from legacy_mm.base.secret import Secret


@dataclass(frozen=True)
class Login:
    password: Secret


def test_a_secret_shows_only_on_demand() -> None:
    secret = Secret("geheim")
    assert secret.reveal() == "geheim"
    for text in (str(secret), repr(secret), f"{secret}", f"{secret!r}", repr(Login(secret)), "%s" % secret):  # noqa: UP031
        assert "geheim" not in text and "[hidden]" in text


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="control channel"):
        Secret("geheim").__reduce_ex__(4)


def test_secrets_of_one_text_are_equal() -> None:
    assert Secret("a") == Secret("a") and hash(Secret("a")) == hash(Secret("a"))
    assert Secret("a") != Secret("b") and Secret("a") != "a"
    assert not Secret("")
