"""Source and target that are one cluster: what follows, and when it is asked again."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.clients.admin.cluster_admin import Admin
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.flow.admin_clients import AdminClients
from legacy_mm.flow.cluster_identity import IdentityCheck, warning
from tests.fakes.admin import FakeAdmin
from tests.unit.flow_settings import flow_settings

SETTINGS = flow_settings()
WITH_FEATURES = replace(SETTINGS, features=FeatureSettings(preserve_partitions=True))


class Called(FakeAdmin):
    """A cluster with this id; `away` times it does not answer."""

    def __init__(self, *ids: str, away: int = 0) -> None:
        super().__init__()
        self.ids, self.away = ids, away

    @override
    def cluster_ids(self, deadline: Deadline) -> tuple[str, ...]:
        """The ids, or HostError."""
        self.away -= 1
        if self.away >= 0:
            raise HostError("the source is away")
        return self.ids


@pytest.mark.parametrize("ids", [(["a"], ["b"]), ([], []), (["a"], [])])
def test_two_clusters_and_those_without_an_id_are_fine(ids: tuple[list[str], list[str]]) -> None:
    assert warning(WITH_FEATURES, Called(*ids[0]), Called(*ids[1]), Deadline.after(1)) == ""


def test_brokers_of_several_clusters_are_named() -> None:
    """Records go where the advertised broker is, whose id is the last one."""
    told = warning(WITH_FEATURES, Called("a"), Called("c", "b"), Deadline.after(1))
    assert told.startswith("the brokers of the target are of several clusters (b and c): ")
    assert "the brokers of the source" in warning(SETTINGS, Called("b", "a"), Called("c"), Deadline.after(1))
    with pytest.raises(ConfigurationError, match=r"are one cluster \(a\)"):
        warning(WITH_FEATURES, Called("a"), Called("c", "a"), Deadline.after(1))


def test_one_cluster_is_a_warning_without_features_and_an_error_with_them() -> None:
    assert "are one cluster (a)" in warning(SETTINGS, Called("a"), Called("a"), Deadline.after(1))
    with pytest.raises(ConfigurationError, match=r"are one cluster \(a\)"):
        warning(WITH_FEATURES, Called("a"), Called("a"), Deadline.after(1))


def check(monkeypatch: pytest.MonkeyPatch, source: Admin, target: Admin) -> IdentityCheck:
    monkeypatch.setattr(AdminClients, "ends", lambda _: (source, target))
    return IdentityCheck(SETTINGS)


def test_a_source_that_is_away_is_asked_again_until_it_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    source: Any = Called("a", away=1)
    made = check(monkeypatch, source, Called("a"))
    made.inspect()
    (unknown,) = caplog.messages
    assert "the source is away" in unknown
    for _ in range(2):
        made.inspect()
    (_, told) = caplog.messages
    assert "are one cluster (a)" in told
    assert source.away == -1, "it is asked once more, and then no more"
