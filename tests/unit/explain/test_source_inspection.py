"""What `explain` makes of the clusters' answers; `tests/brokers` asks real ones."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.explain import source_inspection
from legacy_mm.explain.source_inspection import inspect
from legacy_mm.runtime.jvm.gateway import Jvm
from tests.unit.flow_settings import flow_settings

SETTINGS = flow_settings()
DOUBT = "session.timeout.ms=9 is above 8"


def no_java() -> Jvm:
    raise AssertionError


@pytest.fixture(autouse=True)
def _topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """The source has no topic that matches."""
    monkeypatch.setattr(source_inspection, "_flow", lambda *_, whose: ([], []))


def test_what_a_start_would_be_refused_for_is_the_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, though several flows share a cluster. It has the code that the mirror ends with."""
    monkeypatch.setattr(source_inspection, "start_doubts", lambda *_: [StreamFailure(DOUBT)])
    with pytest.raises(StreamFailure) as refusal:
        inspect([SETTINGS, SETTINGS], no_java)
    assert (str(refusal.value), refusal.value.exit_code) == (DOUBT, 255)


def test_clusters_that_do_not_say_what_they_allow_are_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: object) -> list[StreamFailure]:
        raise HostError("the target does not answer")

    monkeypatch.setattr(source_inspection, "start_doubts", silent)
    assert inspect([SETTINGS], no_java).target_unknown == "the target does not answer"
