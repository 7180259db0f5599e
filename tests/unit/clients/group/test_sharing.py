"""Java's assignors share partitions out by topics alone."""

from __future__ import annotations

import pytest

from legacy_mm.clients.group.group_protocol import MemberShare, Subscription
from legacy_mm.clients.group.sharing import ByAssignors
from legacy_mm.policies.assignors import Subscriber


@pytest.mark.parametrize("protocol", ["range", "roundrobin"])
def test_assignors_go_by_topics_alone(protocol: str) -> None:
    sharing = ByAssignors(("range", "roundrobin"))
    members = [Subscription(Subscriber(name, None, frozenset({"orders"})), b"of another client") for name in "ab"]
    shares = sharing.shares(protocol, members, {"orders": 4})
    assert {member: (len(share.partitions), share.user_data) for member, share in shares.items()} == {
        "a": (2, None),
        "b": (2, None),
    }
    sharing.take(1, MemberShare((), b"of another client"))
    assert (sharing.user_data({}), sharing.doubt) == (None, None)
