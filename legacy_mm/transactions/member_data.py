"""The user data of Kafka's protocol by which the members of a group share bundles out.

A member tells its leader what it has; the leader tells each member what it gets. A coordinator that shares partitions
out by itself, as for KIP-848, writes no such data, and a member that finds none does not copy.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition, describe_partitions
from legacy_mm.transactions.bundle import bundle_of
from legacy_mm.transactions.bundle_assignor import BundleSubscriber, SharedOut
from legacy_mm.transactions.versioned_json import JsonFields, is_topic, list_of, read, whole, written

_WANTED: JsonFields = {"bundles": whole(1), "generation": whole(-1), "held": list_of(whole(0))}
_GIVEN: JsonFields = {"bundles": whole(1), "held": list_of(whole(0)), "left_out": list_of(is_topic)}


class GivenBundles(NamedTuple):
    """The bundles that the leader gave a member."""

    held: frozenset[int]
    left_out: frozenset[str]
    """Topics that wait until all members want them."""


def subscription_data(bundles: int, generation: int, held: Collection[int]) -> bytes:
    """Return what a member tells the leader: the number of bundles it counts on, and what it has since when."""
    return written({"bundles": bundles, "generation": generation, "held": sorted(held)})


def subscriber_of(member: str, topics: frozenset[str], data: bytes | None, bundles: int) -> BundleSubscriber:
    """Return a member as the leader sees it; raise StreamFailure for one that counts on something else."""
    try:
        fields = read(data, _WANTED)
        _check_numbers(fields["bundles"], bundles, fields["held"])
    except ValueError as error:
        raise StreamFailure(
            f"member {member} of the group cannot copy exactly once with this one: its user data {error}; "
            "run the same release of legacy_mm everywhere"
        ) from error
    return BundleSubscriber(member, topics, fields["generation"], frozenset(fields["held"]))


def assignment_data(shared: SharedOut, member: str, bundles: int) -> bytes:
    """Return what the leader tells a member."""
    held, left_out = shared.bundles[member], sorted(shared.left_out)
    return written({"bundles": bundles, "held": sorted(held), "left_out": left_out})


def given_bundles(data: bytes | None, partitions: Collection[TopicPartition], bundles: int) -> GivenBundles:
    """Return what a member got; raise StreamFailure if its partitions are not those of whole bundles."""
    try:
        fields = read(data, _GIVEN)
        _check_numbers(fields["bundles"], bundles, fields["held"])
        held = frozenset(fields["held"])
        strangers = [each for each in partitions if bundle_of(each, bundles) not in held]
        if strangers:
            raise ValueError(f"does not have the bundles of {describe_partitions(strangers)}")
    except ValueError as error:
        raise StreamFailure(
            f"the group does not share out whole bundles: the assignment's user data {error}; "
            "look at group.protocol and at the other members of the group"
        ) from error
    return GivenBundles(held, frozenset(fields["left_out"]))


def _check_numbers(count: int, bundles: int, held: Collection[int]) -> None:
    if count != bundles:
        raise ValueError(f"has {count} bundles, not {bundles}")
    if any(number >= bundles for number in held):
        raise ValueError("has a bundle that does not exist")
