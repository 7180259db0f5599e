"""The rungs that `bin/demo upgrade` climbs, one row each: what happens beforehand, what the plan says, what proves it.

A proof looks at the clusters and returns a sentence about what it has seen; it raises TimeoutError where that does not
come, `NotAsPromised` where something else is there.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from compat.laboratory.quota_state import Whose, quotas, set_quotas
from compat.laboratory.topic_state import Rule, add_rules, override, overrides, rules
from compat.laboratory.upgrade_waves import PATH, Rules, Waves
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, grow_topic, list_topics, read_all
from legacy_mm.audit.record_comparison import ObservedRecord
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import LegacyMMError

PROOF_TIMEOUT = 120.0
WEST, EAST = "west", "east"
"""The aliases of the samples."""
HEARTBEATS, CHECKPOINTS = "heartbeats", f"{WEST}.checkpoints.internal"
SYNCS, MAP = f"mm2-offset-syncs.{WEST}.internal", f"mm2-offset-map.{WEST}.internal"
POSITIONS = f"legacy-mm-positions.mirror-quickstart.{WEST}.{EAST}.internal"
SIZE, RETENTION = "max.message.bytes", "retention.ms"
READER: Rule = ("orders.eu", "LITERAL", "User:report", "*", "READ", "ALLOW")
WRITER: Rule = ("orders.eu", "LITERAL", "User:shop", "*", "WRITE", "ALLOW")
SLOW_USER: Whose = ("--entity-type", "users", "--entity-name", "report")
LIMITED: Mapping[str, float] = {"consumer_byte_rate": 5_000_000.0}
GROWN, BEATS, PARTITIONS_OF_NEW = 6, 3, 6
_KINDS = ("create-topic", "add-partitions", "set-config", "delete-config", "create-acl", "delete-acl", "set-quota")
Place = tuple[str, int]
Change = Mapping[str, object]


class NotAsPromised(LegacyMMError):
    """The clusters are not as a step has said."""


class Scene(Protocol):
    """The demo as a rung sees it."""

    @property
    def waves(self) -> Waves:
        """Return the written waves, and both clusters."""

    @property
    def commits(self) -> Mapping[str, Mapping[Place, int]]:
        """Group -> the offsets that it has committed at the source in the last wave."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of the ladder."""

    flag: str
    proof: Callable[[Scene], str]
    beforehand: Callable[[Scene], str] | None = None
    """Changes the source so that the feature has something to do; returns a description of the change."""
    planned: frozenset[str] = frozenset()
    """Kinds of changes that the plan must consist of."""
    excludes: tuple[str, ...] = ()
    """Flags that it gets along with neither before nor after: it is taken for one step."""
    topics: tuple[str, ...] = ()
    """Topics at the target that only the mirror writes."""


def in_force(number: int) -> tuple[Rung, ...]:
    """Return the rungs that are switched on at step `number`; 0: none."""
    rungs = RUNGS[:number]
    last = rungs[-1:]
    carried = [each for each in rungs[:-1] if not each.excludes]
    return (*(each for each in carried if all(each.flag not in rung.excludes for rung in last)), *last)


def rules_with(rungs: Iterable[Rung]) -> Rules:
    """Return the rules for copies while these rungs are switched on."""
    flags = {each.flag for each in rungs}
    return Rules(
        f"{WEST}." if "rename.topics" in flags else "",
        keeps_partitions="preserve.partitions" in flags,
        path=WEST if "detect.loops" in flags else "",
    )


def missing(target: str, changes: Iterable[Change]) -> list[Change]:
    """Return planned changes that are not at the target."""
    return [each for each in changes if not _is_there(target, each)]


def _is_there(target: str, change: Change) -> bool:
    kind, topic = change["change"], str(change.get("topic", ""))
    if kind in ("create-acl", "delete-acl"):
        rule = change["rule"]
        assert isinstance(rule, dict)
        words = tuple(rule[name] for name in ("topic", "pattern", "principal", "host", "operation", "permission"))
        return (words in rules(target)) == (kind == "create-acl")
    if kind == "set-quota":
        return LIMITED.get(str(change["name"])) == change["new"] == _limits(target).get(str(change["name"]))
    if kind in ("create-topic", "add-partitions"):
        configs = change.get("configs", {})
        assert isinstance(configs, dict)
        partitions = list_topics(target).get(topic)
        wanted = change["partitions"] if kind == "create-topic" else change["new"]
        return partitions == wanted and configs.items() <= overrides(target, topic).items()
    return overrides(target, topic).get(str(change["name"])) == change.get("new")


def _placed(scene: Scene) -> str:
    row = next(each for each in scene.waves.last() if each.row.name == "orders.audit")
    here, there = len(row.source[1]), len(row.target[1])
    return f"orders.audit has {here} partitions at the source and {there} at the target: copies are in the first {here}"


def _new_topic(scene: Scene) -> str:
    waves = scene.waves
    model = next(row for row in waves.rows if row.name == "orders.us")
    new = replace(model, name="orders.new", partitions=PARTITIONS_OF_NEW)
    create_topic(waves.source, new.name, new.partitions, config={SIZE: "1500000"})
    grow_topic(waves.source, "audit", GROWN)
    waves.rows.append(new)
    return f"a new topic, {new.name}, with {SIZE}=1500000; audit grows to {GROWN} partitions"


def _describe_made(scene: Scene) -> str:
    there = list_topics(scene.waves.target)
    return f"orders.new has {there['orders.new']} partitions at the target, audit {there['audit']}"


def _configured(scene: Scene) -> str:
    override(scene.waves.source, "orders.eu", {SIZE: "2000000", RETENTION: "864000000000"})
    return f"orders.eu has {SIZE}=2000000 and {RETENTION}=864000000000"


def _configs_follow(scene: Scene) -> str:
    found = overrides(scene.waves.target, "orders.eu")
    if RETENTION in found:
        raise NotAsPromised(f"{RETENTION} of orders.eu is at the target, though the file excludes it")
    return f"orders.eu has {SIZE}={found.get(SIZE)} at the target, and no {RETENTION}, which the file excludes"


def _allowed(scene: Scene) -> str:
    add_rules(scene.waves.source, [READER, WRITER])
    return f"{READER[2]} may read orders.eu, {WRITER[2]} may write it"


def _readers_follow(scene: Scene) -> str:
    found = {(rule[2], rule[4]) for rule in rules(scene.waves.target) if rule[0] == "orders.eu"}
    if found != {(READER[2], READER[4])}:
        raise NotAsPromised(f"the rules for orders.eu at the target are {sorted(found)}")
    return f"{READER[2]} may read the copy; only the mirror may write it"


def _renamed(scene: Scene) -> str:
    names = [each.copy for each in scene.waves.last()]
    return f"the records are in {', '.join(names)}; nothing was added to the copies under the old names"


def _with_path(scene: Scene) -> str:
    count = sum(sum(each.target[1].values()) - sum(each.target[0].values()) for each in scene.waves.last())
    return f"{count:,} copies carry the header {PATH}={WEST}"


def _beats(scene: Scene) -> str:
    target = scene.waves.target
    before = sum(end_offsets(target, HEARTBEATS).values())
    after = wait_until(
        lambda: (end := sum(end_offsets(target, HEARTBEATS).values())) >= before + BEATS and end,
        PROOF_TIMEOUT,
        f"{BEATS} more heartbeats",
    )
    keys = {record.key for record in read_all(target, HEARTBEATS)}
    if keys != {_text(WEST) + _text(EAST)}:
        raise NotAsPromised(f"heartbeats are not of {WEST} to {EAST}: {keys}")
    return f"{after - before} heartbeats of {WEST} to {EAST} while we looked"


def _synced(scene: Scene) -> str:
    waves = scene.waves

    def topics() -> set[str]:
        return {name for name in names if any((record.key or b"").startswith(_text(name)) for record in log())}

    def log() -> list[ObservedRecord]:
        return read_all(waves.target, SYNCS)

    names = {row.name for row in waves.rows}
    wait_until(lambda: topics() == names, PROOF_TIMEOUT, f"offset syncs of {len(names)} topics")
    return f"{len(log())} offset syncs in {SYNCS}, of all {len(names)} topics"


def _checkpointed(scene: Scene) -> str:
    waves = scene.waves
    wanted = _copies_of(scene)

    def last() -> dict[tuple[str, Place], tuple[int, int]]:
        return dict(checkpoint_of(record) for record in read_all(waves.target, CHECKPOINTS))

    def exact() -> bool:
        """Compare the offsets.

        The first answer may be lower, while the mirror does not know yet where it has copied to.
        """
        found = last()
        if any(found.get((group, copy), (-1, 0))[0] != offset for group, copy, offset in wanted):
            return False
        return _stands(waves, {copy: (offset, found[group, copy][1]) for group, copy, offset in wanted})

    wait_until(exact, PROOF_TIMEOUT, f"{len(wanted)} checkpoints, exactly where their groups stand")
    return f"{len(wanted)} checkpoints of {_groups(scene)}, each exactly at its group's offset at the source"


def _brought_over(scene: Scene) -> str:
    waves = scene.waves
    wanted = _copies_of(scene)
    for group in scene.commits:
        mine = {copy: offset for owner, copy, offset in wanted if owner == group}
        topics = sorted({topic for topic, _ in mine})

        def there(topics: list[str] = topics, group: str = group) -> dict[Place, int]:
            return committed(waves.target, group, topics)

        def stands(mine: dict[Place, int] = mine, there: Callable[[], dict[Place, int]] = there) -> bool:
            found = there()
            at = {copy: (offset, found.get(copy, 0)) for copy, offset in mine.items()}
            return mine.keys() <= found.keys() and _stands(waves, at)

        wait_until(stands, PROOF_TIMEOUT, f"the offsets of group {group} at the target")
    return f"{_groups(scene)} at the target: what is left for their consumers there is what is left at the source"


def _committed_once(scene: Scene) -> str:
    waves = scene.waves
    count = 0
    for each in waves.last():
        seen, there = (
            sum(record.partition >= 0 for record in read_all(waves.target, each.copy, isolation=isolation))
            for isolation in ("read_committed", "read_uncommitted")
        )
        if seen != there:
            raise NotAsPromised(f"{there - seen} records in {each.copy} are in no committed transaction")
        count += sum(each.target[1].values()) - sum(each.target[0].values())
    positions = len(read_all(waves.target, POSITIONS, isolation="read_committed"))
    return f"{count:,} records and markers, all committed together with {positions} records of positions in {POSITIONS}"


def _limited(scene: Scene) -> str:
    set_quotas(scene.waves.source, SLOW_USER, LIMITED)
    return "user report may take so many bytes per second at the source"


def _limits_follow(scene: Scene) -> str:
    wait_until(lambda: _limits(scene.waves.target) == LIMITED, PROOF_TIMEOUT, "the quota at the target")
    return f"quotas of {SLOW_USER[-1]} at the target: {', '.join(f'{name}={limit}' for name, limit in LIMITED.items())}"


def _limits(bootstrap: str) -> dict[str, float]:
    return next((limits for whose, limits in quotas(bootstrap, ("users",)).items() if SLOW_USER[-1] in whose), {})


def _copies_of(scene: Scene) -> list[tuple[str, Place, int]]:
    """Group, partition at the target, and the offset that is committed at the source."""
    prefix = scene.waves.last()[0].rules.prefix
    return [
        (group, (prefix + topic, number), offset)
        for group, places in scene.commits.items()
        for (topic, number), offset in places.items()
    ]


def _stands(waves: Waves, offsets: Mapping[Place, tuple[int, int]]) -> bool:
    """Return True if the same records are left at source and target from both offsets on.

    Raises NotAsPromised if some of the source's are missing.
    """
    exact = True
    for each in waves.last():
        places = {number: at for (copy, number), at in offsets.items() if copy == each.copy}
        here, there = (read_all(*place) for place in ((waves.source, each.row.name), (waves.target, each.copy)))
        for number, (upstream, downstream) in places.items():
            left, found = _rest(here, number, upstream), _rest(there, number, downstream)
            if Counter(left) - Counter(found):
                raise NotAsPromised(f"{each.copy}-{number}: offset {downstream} is beyond {upstream} at the source")
            exact &= left == found
    return exact


def _rest(log: Iterable[ObservedRecord], partition: int, offset: int) -> list[bytes | None]:
    return [each.value for each in log if each.partition == partition and each.offset >= offset]


def _groups(scene: Scene) -> str:
    return f"groups {' and '.join(scene.commits)}"


def _text(text: str) -> bytes:
    """Encode a string as MirrorMaker 2 writes it."""
    return struct.pack(">h", len(text)) + text.encode()


def checkpoint_of(record: ObservedRecord) -> tuple[tuple[str, Place], tuple[int, int]]:
    """Group and partition at the target; offsets at the source and at the target."""
    key, texts, at = record.key or b"", [], 0
    for _ in range(2):
        (length,) = struct.unpack_from(">h", key, at)
        texts.append(key[at + 2 : at + 2 + length].decode())
        at += 2 + length
    _, upstream, downstream = struct.unpack_from(">hqq", record.value or b"")
    group, topic = texts
    return (group, (topic, *struct.unpack_from(">i", key, at))), (upstream, downstream)


RUNGS: tuple[Rung, ...] = (
    Rung("preserve.partitions", _placed),
    Rung("topic.creation", _describe_made, _new_topic, frozenset({"create-topic", "add-partitions"})),
    Rung("sync.topic.configs.enabled", _configs_follow, _configured, frozenset({"set-config"})),
    Rung("sync.topic.acls.enabled", _readers_follow, _allowed, frozenset({"create-acl"})),
    Rung("rename.topics", _renamed, planned=frozenset({"create-topic", "create-acl"})),
    Rung("detect.loops", _with_path, excludes=("rename.topics",)),
    Rung("emit.heartbeats.enabled", _beats, planned=frozenset({"create-topic"}), topics=(HEARTBEATS,)),
    Rung("emit.offset-syncs.enabled", _synced, planned=frozenset({"create-topic"}), topics=(SYNCS, MAP)),
    Rung("emit.checkpoints.enabled", _checkpointed, planned=frozenset({"create-topic"}), topics=(CHECKPOINTS,)),
    Rung("sync.group.offsets.enabled", _brought_over),
    Rung("exactly.once", _committed_once, planned=frozenset({"create-topic"}), topics=(POSITIONS,)),
    Rung("sync.quotas.enabled", _limits_follow, _limited, frozenset({"set-quota"})),
)
"""In the order of `legacy-mm features`."""
