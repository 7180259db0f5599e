"""Real deployments, mirrored. `SASL_SSL` is `SASL_PLAINTEXT` here, as these brokers have no certificate that a host
trusts; those that log in by Kerberos are in `test_kerberos.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic
from tests.fixtures.deployments import PARTITIONS, ROWS, mirror_together

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
DEPLOYMENTS = [row for row in ROWS if not row.get("kerberos")]
AT_ONCE = 3
SOONER = 3
"""Groups of so many that run each time; the others in slow runs."""
SECRET = "secret-of-the-test"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
EVERYTHING = {".*", "--whitelist=.*", '--whitelist=".*"'}


@pytest.fixture(scope="module")
def addresses(module_clusters: Callable[..., Cluster]) -> Iterator[dict[str, str]]:
    """One pair of clusters for all; two users are let in, one of them with the name that Azure wants."""
    users = f'{PLAIN} user_user="{SECRET}" user_$ConnectionString="{SECRET}";'
    found = {"secret": SECRET}
    for side in ("source", "target"):
        cluster = module_clusters(
            listeners={"GUARDED": "SASL_PLAINTEXT"},
            properties={
                "sasl.enabled.mechanisms": "PLAIN",
                "listener.name.guarded.plain.sasl.jaas.config": users,
            },
        )
        found |= {side: cluster.bootstrap, f"{side}_login": cluster.bootstrap_of("GUARDED")}
    for row in DEPLOYMENTS:
        for side in ("source", "target"):
            create_topic(found[side], row["topic"], partitions=PARTITIONS)
    yield found


def start_together() -> list[Any]:
    """Whoever mirrors everything runs alone: it would be mistaken for the others."""
    alone = [row for row in DEPLOYMENTS if EVERYTHING & set(row["words"])]
    others = [row for row in DEPLOYMENTS if row not in alone]
    together = [others[at : at + AT_ONCE] for at in range(0, len(others), AT_ONCE)]
    return [[row] for row in alone] + [
        pytest.param(rows, marks=pytest.mark.slow) if at >= SOONER else rows for at, rows in enumerate(together)
    ]


@pytest.mark.parametrize("rows", start_together(), ids=lambda rows: "+".join(row["id"] for row in rows))
def test_a_deployment_mirrors(rows: Sequence[Mapping[str, Any]], addresses: dict[str, str], tmp_path: Path) -> None:
    mirror_together(rows, addresses, tmp_path)
