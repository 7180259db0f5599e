"""REST APIs that tests share: to close one takes a third of a second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from legacy_mm.metrics.health import Phase, State
from tests.fixtures import rest_api
from tests.fixtures.rest_api import RestApi, serving


@pytest.fixture(scope="session")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rest_api.token_file(tmp_path_factory.mktemp("rest"))


@pytest.fixture(scope="session")
def acting(token_file: Path) -> Iterator[RestApi]:
    with serving(token_file=str(token_file), actions=True) as found:
        found.headers = rest_api.LOGIN
        yield found


@pytest.fixture
def api(acting: RestApi) -> RestApi:
    """Anything may be asked of it; it has one connector, x."""
    acting.herder.begin_anew()
    acting.herder.add("x")
    acting.state = State(Phase.RUNNING, (), {})
    return acting
