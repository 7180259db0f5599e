"""Which limits the target lacks, which are nobody's business there, and which users it has not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.admin.client_quotas import Credential
from legacy_mm.features.quotas.quota_sync import ClientQuotas
from legacy_mm.policies.changes import Inspection, SetQuota
from legacy_mm.policies.quota_entities import Entity, Quotas
from tests.fakes.admin import FakeAdmin

ALICE: Entity = (("user", "alice"),)
ANY: Entity = (("client-id", None),)
BOTH: Entity = (("client-id", "mirror-0"), ("user", "alice"))
MIRROR: Entity = (("user", "mirror"),)
OWN = frozenset({("user", "mirror"), ("client-id", "mirror-0")})


class SourceAdmin(FakeAdmin):
    name = "source"


@dataclass
class Clusters:
    """What both have; `untold`: clusters that do not tell their users."""

    source: Quotas
    target: Quotas = field(default_factory=dict)
    users: Mapping[str, Mapping[Credential, int]] = field(default_factory=dict)
    untold: str = ""

    def look(self) -> Inspection:
        duty = ClientQuotas(SourceAdmin(), FakeAdmin(), OWN, self._quotas, self._users)
        return duty.inspect(frozenset(), Deadline.after(1))

    def _quotas(self, name: str, settings: ConnectionSettings, deadline: Deadline) -> Quotas:
        return {"source": self.source, "target": self.target}[name]

    def _users(self, name: str, settings: ConnectionSettings, deadline: Deadline) -> Mapping[Credential, int]:
        if name == self.untold:
            raise HostError(f"the {name} tells no SCRAM users")
        return self.users.get(name, {})


def test_what_the_target_lacks_or_has_otherwise_is_set_and_the_rest_stays() -> None:
    limits = {"producer_byte_rate": 10.0, "consumer_byte_rate": 20.0, "request_percentage": 30.0}
    there = {"producer_byte_rate": 10.0, "consumer_byte_rate": 99.0, "controller_mutation_rate": 1.0}
    found = Clusters({ALICE: limits, ANY: {"producer_byte_rate": 5.0}}, {ALICE: there, (("user", "bob"),): there})
    assert found.look() == Inspection(
        (
            SetQuota(ANY, "producer_byte_rate", None, 5.0),
            SetQuota(ALICE, "consumer_byte_rate", 99.0, 20.0),
            SetQuota(ALICE, "request_percentage", None, 30.0),
        )
    )


@pytest.mark.parametrize("entity", [MIRROR, BOTH, (("client-id", None), ("user", "mirror"))])
def test_quotas_of_the_mirror_itself_are_left_out_and_named(entity: Entity) -> None:
    """They limit its reading; at the target they would limit its writing."""
    found = Clusters({entity: {"consumer_byte_rate": 5.0}, ALICE: {"consumer_byte_rate": 5.0}}).look()
    assert found.changes == (SetQuota(ALICE, "consumer_byte_rate", None, 5.0),)
    (note,) = found.notes
    assert note.startswith("quotas of the mirror's own clients are not copied: ")
    assert "mirror" in note.partition(": ")[2]


def test_a_user_that_only_looks_like_the_mirror_is_not_it() -> None:
    found = Clusters({(("client-id", "mirror"),): {"consumer_byte_rate": 5.0}}).look()
    assert (len(found.changes), found.notes) == (1, ())


def test_missing_users_are_named_with_what_to_do() -> None:
    sha256, sha512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
    users = {
        "source": {("alice", sha256): 4_096, ("alice", sha512): 8_192, ("bob", sha256): 4_096},
        "target": {("alice", sha256): 9_999, ("eve", sha256): 4_096},
    }
    (note,) = Clusters({}, users=users).look().notes
    assert note.startswith(
        "SCRAM users that the target lacks: alice (SCRAM-SHA-512, 8192 iterations), "
        "bob (SCRAM-SHA-256, 4096 iterations). "
    )
    assert note.endswith("--entity-name 'alice' --add-config 'SCRAM-SHA-512=[iterations=8192,password=...]'")
    assert Clusters({}, users={"source": users["target"], "target": users["target"]}).look() == Inspection()


def test_very_many_users_are_counted() -> None:
    users = {(f"user-{number:03}", "SCRAM-SHA-256"): 4_096 for number in range(25)}
    (note,) = Clusters({}, users={"source": users}).look().notes
    assert "user-019 (" in note
    assert "user-020 (" not in note
    assert " and 5 more. " in note


@pytest.mark.parametrize("untold", ["source", "target"])
def test_a_cluster_that_tells_no_users_holds_no_quota_back(untold: str) -> None:
    found = Clusters({ALICE: {"consumer_byte_rate": 5.0}}, untold=untold).look()
    assert len(found.changes) == 1
    assert found.troubles == (f"the {untold} tells no SCRAM users",)


def test_a_cluster_that_tells_no_quotas_is_a_failure() -> None:
    class Silent(Clusters):
        @override
        def _quotas(self, name: str, settings: ConnectionSettings, deadline: Deadline) -> Quotas:
            raise HostError("it tells none")

    with pytest.raises(HostError, match="it tells none"):
        Silent({}).look()
