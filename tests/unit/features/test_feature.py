"""Settings by the key of their feature; what follows for a flow."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from legacy_mm.base.kafka_clients import MembershipSettings
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS, ConnectOffsetSettings
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.naming.flags import NamingSettings
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.features.offset_syncs.flags import OffsetSyncSettings
from legacy_mm.features.rows import FEATURES
from legacy_mm.features.topic_acls.feature import TOPIC_ACLS
from legacy_mm.features.topic_acls.flags import AclSyncSettings
from legacy_mm.features.topic_configs.feature import TOPIC_CONFIGS
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings, ConfigSyncSettings

OFF = FeatureSettings()
ACLS, SYNCS = AclSyncSettings(9.0), OffsetSyncSettings("source", -1, 100)
WORKERS = MembershipSettings("A-mm2")
STORED = ConnectOffsetSettings("mm2-offsets.A.internal", 25, 1, "MirrorSourceConnector", "A", WORKERS)


def test_settings_are_found_by_their_feature() -> None:
    both = OFF.having(TOPIC_ACLS, ACLS).having(OFFSET_SYNCS, SYNCS)
    assert (both[TOPIC_ACLS], both[OFFSET_SYNCS], both[TOPIC_CONFIGS]) == (ACLS, SYNCS, None)
    assert both.having(TOPIC_ACLS, None) == OFF.having(OFFSET_SYNCS, SYNCS)
    assert OFF[TOPIC_ACLS] is None, "the first one stays as it is"


@pytest.mark.parametrize(
    ("features", "have_duties", "concern_both_ends"),
    [
        (OFF, False, False),
        (OFF.having(TOPIC_ACLS, ACLS), True, True),
        (OFF.having(OFFSET_SYNCS, SYNCS), False, True),
        (OFF.having(CONNECT_OFFSETS, STORED), False, False),
        (replace(OFF, preserve_partitions=True), True, True),
        (replace(OFF, detect_loops=True), False, True),
        (replace(OFF, naming=NamingSettings("DefaultReplicationPolicy", "a")), False, True),
    ],
)
def test_what_a_flow_has_to_do_for_them(features: FeatureSettings, have_duties: bool, concern_both_ends: bool) -> None:
    assert (features.have_duties, features.concern_both_ends) == (have_duties, concern_both_ends)


def test_expressions_of_what_is_on_are_tried() -> None:
    synced = replace(OFF, canary="a").having(TOPIC_CONFIGS, ConfigSyncSettings(8.0, ConfigFilterSettings(("x", "y"))))
    assert synced.expressions() == {"feature.topics": ["a"], "config.properties.exclude": ("x", "y")}
    assert OFF.expressions() == {"feature.topics": []}


def test_flags_load_no_duty() -> None:
    """Invariant E: flags are read at each start."""
    light = "feature|flags|policy_names|connect_offset_settings|__init__"
    code = "import sys; import legacy_mm.features.flags; print(*(name for name in sys.modules if '.features.' in name))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    parts = [name.split(".")[2:] for name in done.stdout.split()]
    assert {part[0] for part in parts if len(part) > 1} == {*(each.name for each in FEATURES), "naming"}
    assert {part[1] for part in parts if len(part) > 1} <= set(light.split("|"))
