"""The flags of access rules."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features import flags
from legacy_mm.features.topic_acls.feature import TOPIC_ACLS
from legacy_mm.features.topic_acls.flags import AclSyncSettings

ON = {"sync.topic.acls.enabled": ["true"]}


@pytest.mark.parametrize(
    ("more", "settings"),
    [
        ({}, AclSyncSettings(600.0)),
        ({"sync.topic.acls.interval.seconds": ["5"]}, AclSyncSettings(5.0)),
        ({"sync.topic.acls.prefixed": ["true"]}, AclSyncSettings(600.0, prefixed=True)),
        ({"sync.topic.acls.remove": ["true"]}, AclSyncSettings(600.0, remove=True)),
    ],
)
def test_what_they_say(more: dict[str, list[str]], settings: AclSyncSettings) -> None:
    assert flags.settings({**ON, **more})[TOPIC_ACLS] == settings
    assert flags.settings({"sync.topic.acls.interval.seconds": ["5"]})[TOPIC_ACLS] is None


@pytest.mark.parametrize("name", ["sync.topic.acls.prefixed", "sync.topic.acls.remove"])
def test_one_that_shapes_it_needs_it(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}=true needs sync.topic.acls.enabled, because "):
        flags.settings({name: ["true"]})
