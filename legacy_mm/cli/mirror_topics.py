"""`legacy-mm clusters`, `checkpoints` and `heartbeats`: what the internal topics of mirroring at one cluster say.

Records are printed as MirrorMaker 2's formatters print them, the last one under each key, or as a table. The cluster is
that of `--config`, or the target of the mirror whose command line stands behind `--`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from legacy_mm.cli.exit_code import CommandParser, reported
from legacy_mm.cli.mirror_line import only_flow, parts_of, split
from legacy_mm.cli.output import columns, print_lines
from legacy_mm.client import Heartbeat, MirrorClient, checkpoint_line, heartbeat_line
from legacy_mm.clients.cluster_errors import at_cluster
from legacy_mm.clock import Deadline, wall
from legacy_mm.compat import properties_file
from legacy_mm.errors import UsageError
from legacy_mm.policies.remote_clusters import hops_of, upstream_clusters

_MILLIS = 1000
_UNHEARD = "never"
_SOURCE_ALIAS = "source.cluster.alias"


def clusters(words: Sequence[str]) -> int:
    """Print upstream clusters with distance and last heartbeat; return 0, or 1 if the cluster was not read."""
    parser = _parser("clusters", "Clusters upstream of this one, by the heartbeats that have come from them.")
    return reported(lambda: _clusters(_read(parser, words)))


def heartbeats(words: Sequence[str]) -> int:
    """Print the last heartbeat of each flow, in each topic that holds heartbeats, or in one."""
    parser = _parser("heartbeats", "The last heartbeat of each flow.")
    parser.add_argument("--topic", help="of this topic only; default: all heartbeats topics, copies too")
    _take_table(parser)
    return reported(lambda: _heartbeats(_read(parser, words)))


def checkpoints(words: Sequence[str]) -> int:
    """Print the last checkpoint of each group and partition."""
    parser = _parser("checkpoints", "The last checkpoint of each consumer group and partition of a source cluster.")
    parser.add_argument("--source", metavar="ALIAS", help="the source cluster's alias; default: the mirror's")
    parser.add_argument("--group", help="of this group only, by its whole id")
    _take_table(parser)
    return reported(lambda: _checkpoints(_read(parser, words)))


def _clusters(options: argparse.Namespace) -> int:
    with _client(options) as client:
        policy, topics = client.replication_policy(), client.heartbeat_topics()
        deadline = Deadline.after(options.timeout)
        heard = {topic: client.heartbeats(topic, deadline.remaining()) for topic in topics}
    rows = []
    for alias in sorted(upstream_clusters(policy, topics)):
        ways = [(hops, len(topic), topic) for topic in topics if (hops := hops_of(policy, topic, alias)) > 0]
        hops, _, topic = min(ways)  # of the nearest the shortest name: its heartbeats began in that cluster
        rows.append((alias, str(hops), topic, _last(heard[topic])))
    print_lines(columns(("CLUSTER", "HOPS", "HEARTBEATS", "LAST"), rows))
    _note_nothing(rows, "no heartbeats have come here from another cluster")
    return 0


def _heartbeats(options: argparse.Namespace) -> int:
    with _client(options) as client:
        topics = [options.topic] if options.topic else sorted(client.heartbeat_topics())
        deadline = Deadline.after(options.timeout)
        found = [(topic, each) for topic in topics for each in client.heartbeats(topic, deadline.remaining())]
    if options.table:
        rows = [(topic, each.source, each.target, _last([each])) for topic, each in found]
        print_lines(columns(("TOPIC", "SOURCE", "TARGET", "LAST"), rows))
    else:
        print_lines(heartbeat_line(each) for _, each in found)
    _note_nothing(found, "there are no heartbeats")
    return 0


def _checkpoints(options: argparse.Namespace) -> int:
    source = options.source or options.properties.get(_SOURCE_ALIAS, "")
    if not source:
        raise UsageError("--source ALIAS says of which source cluster")
    with _client(options) as client:
        found = client.checkpoints(source, options.timeout)
    wanted = sorted(each for each in found if options.group in (None, each.group))
    if options.table:
        rows = [tuple(map(str, each)) for each in wanted]
        print_lines(columns(("GROUP", "TOPIC", "PARTITION", "UPSTREAM", "DOWNSTREAM", "METADATA"), rows))
    else:
        print_lines(map(checkpoint_line, wanted))
    _note_nothing(wanted, f"there are no such checkpoints of {source}")
    return 0


def _read(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Read options; `properties` are those of a client for the cluster. Raises LegacyMMError."""
    own, line = split(words)
    options = parser.parse_args(list(own))
    if options.config is None and not line:
        raise UsageError("--config FILE, or -- and the command line of a mirror, says which cluster")
    options.properties = _of_line(line) if options.config is None else properties_file.load(options.config).properties
    return options


def _of_line(line: Sequence[str]) -> dict[str, str]:
    """Return properties for the mirror's target, and for the names of its topics there."""
    naming = only_flow(line).features.naming
    file = properties_file.load(parts_of(line).producer).properties
    return {**file, **naming.properties, "replication.policy.class": naming.policy, _SOURCE_ALIAS: naming.source_alias}


@contextmanager
def _client(options: argparse.Namespace) -> Iterator[MirrorClient]:
    whose = "target" if options.config is None else "cluster"
    with at_cluster(whose, options.properties), MirrorClient(options.properties) as client:
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


def _note_nothing(found: Sequence[object], note: str) -> None:
    """Note on standard error that nothing was found: a mistyped alias must not look like an answer."""
    if not found:
        sys.stderr.write(f"legacy-mm: {note}\n")


def _parser(name: str, about: str) -> argparse.ArgumentParser:
    parser = CommandParser(prog=f"legacy-mm {name}", allow_abbrev=False, description=about)
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="properties of a MirrorMaker 2 client for the target cluster, such as bootstrap.servers and "
        "replication.policy.class; or -- and the mirror's command line",
    )
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for reading records (30)")
    return parser


def _take_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", action="store_true", help="columns, instead of MirrorMaker 2's lines")
