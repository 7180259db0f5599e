"""`legacy-mm clusters`, `checkpoints` and `heartbeats`: what the internal topics of mirroring at one cluster say.

Records are printed as MirrorMaker 2's formatters print them, the last one under each key, or as a table. The cluster is
that of `--config`, or the target of the mirror whose command line stands behind `--`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from legacy_mm.base.clock import Deadline, wall
from legacy_mm.base.errors import UsageError
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.cli.output import columns, print_lines
from legacy_mm.client import Heartbeat, MirrorClient, checkpoint_line, heartbeat_line
from legacy_mm.clients.cluster.cluster_errors import at_cluster
from legacy_mm.policies.remote_clusters import hops_of, upstream_clusters
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.legacy_tool import client_connection

_MILLIS = 1000
_UNHEARD = "never"
_SOURCE_ALIAS = "source.cluster.alias"


def _add_clusters_options(parser: CommandParser) -> None:
    parser.description = "Clusters upstream of this one, by the heartbeats that have come from them."
    _add_cluster(parser)


def _add_heartbeats_options(parser: CommandParser) -> None:
    parser.description = "The last heartbeat of each flow."
    _add_cluster(parser)
    parser.add_argument("--topic", help="of this topic only; default: all heartbeats topics, copies too")
    _add_table(parser)


def _add_checkpoints_options(parser: CommandParser) -> None:
    parser.description = "The last checkpoint of each consumer group and partition of a source cluster."
    _add_cluster(parser)
    parser.add_argument("--source", metavar="ALIAS", help="the source cluster's alias; default: the mirror's")
    parser.add_argument("--group", help="of this group only, by its whole id")
    _add_table(parser)


def _clusters(call: CommandCall) -> int:
    """Print upstream clusters with distance and last heartbeat."""
    with _client(call, _properties(call)) as client:
        policy, topics = client.replication_policy(), client.heartbeat_topics()
        deadline = Deadline.after(call.options.timeout)
        heard = {topic: client.heartbeats(topic, deadline.remaining()) for topic in topics}
    rows = []
    for alias in sorted(upstream_clusters(policy, topics)):
        ways = [(hops, len(topic), topic) for topic in topics if (hops := hops_of(policy, topic, alias)) > 0]
        hops, _, topic = min(ways)  # of the nearest the shortest name: its heartbeats began in that cluster
        rows.append((alias, str(hops), topic, _last(heard[topic])))
    print_lines(columns(("CLUSTER", "HOPS", "HEARTBEATS", "LAST"), rows))
    _note_nothing(rows, "no heartbeats have come here from another cluster")
    return ExitCode.DONE


def _heartbeats(call: CommandCall) -> int:
    """Print the last heartbeat of each flow, in each topic that holds heartbeats, or in one."""
    options = call.options
    with _client(call, _properties(call)) as client:
        topics = [options.topic] if options.topic else sorted(client.heartbeat_topics())
        deadline = Deadline.after(options.timeout)
        found = [(topic, each) for topic in topics for each in client.heartbeats(topic, deadline.remaining())]
    if options.table:
        rows = [(topic, each.source, each.target, _last([each])) for topic, each in found]
        print_lines(columns(("TOPIC", "SOURCE", "TARGET", "LAST"), rows))
    else:
        print_lines(heartbeat_line(each) for _, each in found)
    _note_nothing(found, "there are no heartbeats")
    return ExitCode.DONE


def _checkpoints(call: CommandCall) -> int:
    """Print the last checkpoint of each group and partition."""
    options, properties = call.options, _properties(call)
    source = options.source or properties.get(_SOURCE_ALIAS, "")
    if not source:
        raise UsageError("--source ALIAS says of which source cluster")
    with _client(call, properties) as client:
        found = client.checkpoints(source, options.timeout)
    wanted = sorted(each for each in found if options.group in (None, each.group))
    if options.table:
        rows = [tuple(map(str, each)) for each in wanted]
        print_lines(columns(("GROUP", "TOPIC", "PARTITION", "UPSTREAM", "DOWNSTREAM", "METADATA"), rows))
    else:
        print_lines(map(checkpoint_line, wanted))
    _note_nothing(wanted, f"there are no such checkpoints of {source}")
    return ExitCode.DONE


def _properties(call: CommandCall) -> Mapping[str, str]:
    """Return the properties of a client for the cluster; raises LegacyMMError."""
    if call.options.config is not None:
        return properties_file.load(call.options.config).properties
    if not call.line.words:
        raise UsageError("--config FILE, or -- and the command line of a mirror, says which cluster")
    return _of_line(call.line)


def _of_line(line: MirrorLine) -> dict[str, str]:
    """Return properties for the mirror's target, and for the names of its topics there."""
    naming = line.only_flow().features.naming
    if line.is_mirror_maker_2:
        file: Mapping[str, str] = line.driver_flow().producer()
    else:
        parts = line.parts()
        file = client_connection.java_properties(parts.producer, parts.java)
    return {**file, **naming.properties, "replication.policy.class": naming.policy, _SOURCE_ALIAS: naming.source_alias}


@contextmanager
def _client(call: CommandCall, properties: Mapping[str, str]) -> Iterator[MirrorClient]:
    whose = "target" if call.options.config is None else "cluster"
    with MirrorClient(properties) as client, at_cluster(whose, client.connection):
        yield client


def _last(records: Iterable[Heartbeat]) -> str:
    """Describe when the newest was sent, by the clock of its mirror, and how long ago that is."""
    newest = max((each.timestamp for each in records), default=None)
    if newest is None:
        return _UNHEARD
    sent = newest / _MILLIS
    try:
        return f"{datetime.fromtimestamp(sent, UTC):%Y-%m-%d %H:%M:%S UTC}, {wall() - sent:.0f} s ago"
    except (OverflowError, ValueError):
        return f"{newest} ms"


def _note_nothing(rows: Sequence[object], note: str) -> None:
    """Note on standard error that nothing was found: a mistyped alias must not look like an answer."""
    if not rows:
        sys.stderr.write(f"legacy-mm: {note}\n")


def _add_cluster(parser: CommandParser) -> None:
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="properties of a MirrorMaker 2 client for the target cluster, such as bootstrap.servers and "
        "replication.policy.class; or -- and the mirror's command line",
    )
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for reading records (30)")
    add_flow_option(parser)


def _add_table(parser: CommandParser) -> None:
    parser.add_argument("--table", action="store_true", help="columns, instead of MirrorMaker 2's lines")


BODIES = {
    "clusters": CommandBody(_add_clusters_options, _clusters),
    "checkpoints": CommandBody(_add_checkpoints_options, _checkpoints),
    "heartbeats": CommandBody(_add_heartbeats_options, _heartbeats),
}
