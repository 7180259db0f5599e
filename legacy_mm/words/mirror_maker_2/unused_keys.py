"""Keys of a driver's file that nobody reads, and the keys that were probably meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from legacy_mm.words.mirror_maker_2.connector_properties import (
    BY_NAME,
    CLIENT_FAMILIES,
    CONVERTER_FAMILIES,
    FLOW_PREFIXES,
    OF_SOURCE_CONNECTORS,
    OPEN_FAMILIES,
    RENAMED,
    WORKER_ROWS,
    is_client_name,
    is_own_flag,
    java_boolean,
)
from legacy_mm.words.mirror_maker_2.driver_file import (
    CLUSTERS,
    HEARTBEATS,
    PROVIDERS,
    WORKER_PREFIXES,
    DriverFile,
    Pair,
)
from legacy_mm.words.mirror_maker_2.file_lines import holds_comment
from legacy_mm.words.options.meant import meant

_OF_DRIVER = (
    CLUSTERS,
    "dedicated.mode.enable.internal.rest",
    "listeners",
    "rest.advertised.host.name",
    "rest.advertised.port",
    "rest.advertised.listener",
    "access.control.allow.origin",
    "access.control.allow.methods",
    "response.http.headers.config",
    "admin.listeners",
    "mm2.compatibility",
)
_OF_WORKERS = (
    "client.id",
    "group.id",
    "exactly.once.source.support",
    "plugin.path",
    "plugin.discovery",
    "listeners",
    "offset.flush.interval.ms",
    "offset.flush.timeout.ms",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "rebalance.timeout.ms",
    "scheduled.rebalance.max.delay.ms",
    "connect.protocol",
    "metadata.max.age.ms",
    "request.timeout.ms",
    "retry.backoff.ms",
    "connector.client.config.override.policy",
)
_OF_WORKERS_PREFIXES = (
    *WORKER_PREFIXES,
    "rest.",
    "metrics.",
    "inter.worker.",
    "internal.",
    "worker.",
    "topic.",
    PROVIDERS,
)
_KNOWN_TO_WORKERS = frozenset(row.name for row in WORKER_ROWS)
_SOURCE_DEFAULT, _TARGET_DEFAULT = "consumer", "producer"


@dataclass(frozen=True, slots=True)
class UnusedKey:
    """A key without an effect."""

    key: str
    meant: str
    """The key that was probably meant; empty: none is near."""


def without_effect(file: DriverFile) -> list[UnusedKey]:
    """Return the keys that no node reads, in the order of the file."""
    pairs, known = set(file.pairs_or_none()), set(file.pairs_or_none(all_nodes=True))
    aliases = file.aliases_or_none()
    reading = known if pairs else pairs  # where this node has no flow, the driver ends
    found = []
    for key in file.properties:
        if not _is_read(key, aliases, reading) and not _takes_a_flow_out(key, file):
            found.append(UnusedKey(key, _probably_meant(key, file, pairs, known)))
    return found


def connect_only(file: DriverFile) -> list[UnusedKey]:
    """Return the keys of a cluster that reach only clients of Kafka Connect itself, with what was probably meant."""
    found = []
    for alias in file.aliases_or_none():
        prefix = f"{alias}."
        for key in file.properties:
            name = key.removeprefix(prefix)
            if key.startswith(prefix) and key not in BY_NAME and _reaches_connect_only(name):
                found.append(UnusedKey(key, _meant_for_cluster(alias, name)))
    return found


def not_for_records(file: DriverFile) -> list[UnusedKey]:
    """Return the keys of a flow that look as if they tuned its data producer, and do not, with what does."""
    return [
        UnusedKey(key, f"{pair.target}.{key.removeprefix(pair.prefix)}")
        for pair in file.pairs_or_none()
        for key in file.properties
        if key.startswith(f"{pair.prefix}producer.") and not key.startswith(f"{pair.prefix}producer.override.")
    ]


def _is_read(key: str, aliases: tuple[str, ...], pairs: set[Pair]) -> bool:
    for pair in pairs:
        if key.startswith(pair.prefix):
            name = key.removeprefix(pair.prefix)
            known = name in BY_NAME or is_own_flag(name) or name in OF_SOURCE_CONNECTORS or is_client_name(name)
            return known or name.startswith((*FLOW_PREFIXES, *OPEN_FAMILIES, *CONVERTER_FAMILIES, PROVIDERS))
    if "->" in key:
        return False
    if (alias := next((each for each in aliases if key.startswith(f"{each}.")), None)) is not None:
        if _is_nobodys(key.removeprefix(f"{alias}.")):
            return False
        return ".producer.override." not in key and ".consumer.override." not in key  # Connect's clients get the rest
    if not aliases:
        return False  # the driver ends before it reads anything else
    if key in _OF_DRIVER or key in BY_NAME or is_own_flag(key) or is_client_name(key):
        return True
    return key.startswith((*WORKER_PREFIXES, PROVIDERS)) and not _is_nobodys(key)


def _is_nobodys(name: str) -> bool:
    """Return True for a name that reaches workers by its first word, such as `task.max`, though they have no such
    property.
    """
    return name.startswith(("task", "worker")) and name not in BY_NAME and name not in _KNOWN_TO_WORKERS


def _takes_a_flow_out(key: str, file: DriverFile) -> bool:
    """Return True for the switch of heartbeats without which a flow that is off would be there, to emit them."""
    source, _, target = key.removesuffix(f".{HEARTBEATS}").partition("->")
    flow_is_named = key.endswith(f".{HEARTBEATS}") and {source, target} <= {*file.aliases_or_none()}
    return flow_is_named and java_boolean(file.properties.get(HEARTBEATS, "true"))


def _reaches_connect_only(name: str) -> bool:
    if name.partition(".")[0] in CLIENT_FAMILIES or is_client_name(name) or name in _OF_WORKERS:
        return False
    return not name.startswith(_OF_WORKERS_PREFIXES)


def _probably_meant(key: str, file: DriverFile, pairs: set[Pair], known: set[Pair]) -> str:
    """Return the key that was probably meant, or nothing."""
    if "->" in key:
        return _meant_for_flow(key, known)
    for alias in file.aliases_or_none():
        if key.startswith(f"{alias}."):
            name = key.removeprefix(f"{alias}.")
            return meant(name, BY_NAME) if _is_nobodys(name) else key.replace(".override.", ".", 1)
    kind, _, rest = key.partition(".")
    copying = sorted(pairs, key=lambda pair: (not file.enabled(pair), str(pair)))
    if kind in CLIENT_FAMILIES and rest and copying:
        alias = copying[0].source if kind == "consumer" else copying[0].target
        return f"{alias}.{key.replace('.override.', '.')}"
    if key == "exactly.once.source.support":
        return "exactly.once"  # at its target it turns nothing on here
    if key in _OF_WORKERS and copying:
        return f"{copying[0].target}.{key}"
    near = meant(key, BY_NAME)
    return RENAMED.get(near, near)


def _meant_for_flow(key: str, pairs: set[Pair]) -> str:
    flow, _, name = key.partition(".")
    if not name:
        return ""
    flows = {str(pair).lower(): str(pair) for pair in pairs}
    spelled = flows.get(flow.replace(" ", "").lower(), "")
    if spelled and spelled != flow:
        return f"{spelled}.{name}"
    near = meant(name, BY_NAME)
    return f"{flow}.{RENAMED.get(near, near)}" if near else ""


def _meant_for_cluster(alias: str, name: str) -> str:
    if name in BY_NAME:
        return name
    if near := _client_of(name):
        return f"{alias}.{near}.{name}"
    return ""


def _client_of(name: str) -> str:
    """Return the kind of client that a property is for; empty if it is none's, or both's."""
    from legacy_mm.words.java_clients.client_properties.apply import RULES

    kinds = {side for side, rules in RULES.items() if any(rule.name == name for rule in rules)}
    return next(iter(kinds)) if len(kinds) == 1 else ""


def remarks(file: DriverFile) -> Iterator[str]:
    """Yield a sentence for each kind of key that does not do what its place promises."""
    yield from unread_switches(file)
    if held := [key for key, text in file.properties.items() if _is_text(key, file) and holds_comment(text)]:
        yield (
            f"What looks like a comment behind a value is a part of the value, as with MirrorMaker 2: {', '.join(held)}"
        )
    if unused := without_effect(file):
        yield f"These keys have no effect, as with MirrorMaker 2: {_listed(unused)}"
    if limited := connect_only(file):
        yield f"These keys reach no client that copies, as with MirrorMaker 2: {_listed(limited)}"
    if beside := not_for_records(file):
        yield f"These keys do not reach the producer of records, as with MirrorMaker 2: {_listed(beside)}"


def unread_switches(file: DriverFile) -> Iterator[str]:
    """Yield a sentence for each flow that is off because its `enabled` is not quite `true`."""
    there = set(file.pairs_or_none(all_nodes=True))
    aliases = file.aliases_or_none()
    for pair in (Pair(source, target) for source in aliases for target in aliases if source != target):
        key = f"{pair.prefix}enabled"
        text = file.properties.get(key, "false")
        if pair not in there and not java_boolean(text) and text.strip().lower() != "false":
            yield f"{key} = {text!r} is not the word true, so the driver takes {pair} for off: write nothing behind it"


def _is_text(key: str, file: DriverFile) -> bool:
    """Return True for a key of a text, which Connect takes whatever it holds."""
    flow = next((pair.prefix for pair in file.pairs_or_none() if key.startswith(pair.prefix)), "")
    row = BY_NAME.get(key.removeprefix(flow))
    return key == CLUSTERS or (row is not None and row.type in ("string", "list", "class"))


def _listed(keys: list[UnusedKey]) -> str:
    return ", ".join(f"{each.key} ({each.meant} was probably meant)" if each.meant else each.key for each in keys)
