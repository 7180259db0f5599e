"""Which engine copies."""

from __future__ import annotations

import pytest

from legacy_mm.errors import ConfigurationError
from legacy_mm.policies.engine_choice import Asked, EngineChoice, choose

NO_KERBEROS = "no Kerberos here"


def chosen(asked: Asked, insecurity: str | None = None, only_batches: str | None = None) -> EngineChoice:
    return choose(asked, insecurity=lambda: insecurity, only_batches=only_batches)


def test_batches_unless_something_speaks_against_it() -> None:
    assert chosen("auto").engine == chosen("batches").engine == "batches"


def test_records_where_batches_cannot_and_the_reason() -> None:
    assert chosen("auto", NO_KERBEROS) == ("records", NO_KERBEROS)
    with pytest.raises(ConfigurationError, match=NO_KERBEROS):
        chosen("batches", NO_KERBEROS)


def test_records_when_asked_for() -> None:
    assert chosen("records").engine == "records"


def test_a_login_that_only_batches_have() -> None:
    assert chosen("auto", only_batches="a delegation token").engine == "batches"
    with pytest.raises(ConfigurationError, match="--engine records cannot be used"):
        chosen("records", only_batches="a delegation token")
    with pytest.raises(ConfigurationError, match=f"a delegation token is possible .* not here: {NO_KERBEROS}"):
        chosen("auto", NO_KERBEROS, "a delegation token")
