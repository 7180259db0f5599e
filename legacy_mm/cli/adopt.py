"""`legacy-mm adopt`: the mirror's group goes on where MirrorMaker 2 stopped.

Reads the topic in which MirrorMaker 2's workers keep their offsets, at the target, and commits for the group of the
mirror's command line at the source. Both must have stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.cluster.cluster_errors import at_cluster
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.topics.topic_reader import read_topic
from legacy_mm.features.connect_offsets.offset_records import Connector, Entry, next_offsets
from legacy_mm.features.cutover.adoption import Adoption, AdoptionOptions
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow import client_checks
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.key_stores import with_stores
from legacy_mm.logs import root_logger
from legacy_mm.runtime.spark.session import java_for
from legacy_mm.transactions.exactly_once_start import require_own_flow

_ASK_TIMEOUT = 60.0


def _add_options(parser: CommandParser) -> None:
    parser.usage = (
        "legacy-mm adopt --offsets-topic TOPIC [--connector NAME] [--cluster ALIAS] [--known-only] [--replace] "
        "[--dry-run] [--flow A->B] -- COMMAND LINE OF THE MIRROR"
    )
    parser.epilog = (
        "exit code 0: done, or with --dry-run ready; 2: the group has members, other offsets or an open transaction; "
        "1: an error"
    )
    parser.add_argument(
        "--offsets-topic",
        required=True,
        metavar="TOPIC",
        help="of the workers, at the target: mm2-offsets.SOURCE.internal, or Connect's offset.storage.topic",
    )
    parser.add_argument("--connector", metavar="NAME", help="where the topic holds offsets of several")
    parser.add_argument("--cluster", metavar="ALIAS", help="the source's alias there, likewise")
    parser.add_argument("--known-only", action="store_true", help="nothing for partitions that have no offset there")
    parser.add_argument("--replace", action="store_true", help="the group has offsets already: commit over them")
    parser.add_argument("--dry-run", action="store_true", help="tell everything, commit nothing")
    add_flow_option(parser)


def _adopt(call: CommandCall) -> int:
    root_logger.silence()
    options, settings = call.options, call.line.only_flow()
    client_checks.check_clients(settings)
    with java_for(settings.process.spark.jvm) as jvm:
        settings = with_stores(settings, lambda: jvm)
        if settings.features[EXACTLY_ONCE] is not None:
            cluster = NativeAdmin("source", settings.source_admin_connection).cluster_id(_deadline())
            require_own_flow(settings, cluster, _deadline())
        choice = FlowTopics(settings.topics, settings.features, jvm.topic_matcher).choice()
        inspector = NativeInspector(settings.source.connection)
        with at_cluster("source", settings.source.connection):
            counts = inspector.partitions(_deadline())
        mirrored = [TopicPartition(topic, number) for topic in choice.select(counts) for number in range(counts[topic])]
        starts = {place: low for place, (low, _) in inspector.log_ends(mirrored, _deadline()).items()}
    stands = _stands(settings, options)
    group = Adoption(GroupAdmin("source", settings.source.connection), settings.source.group_id, _say)
    done = group.run(stands, starts, AdoptionOptions(options.known_only, options.replace, options.dry_run))
    return ExitCode.DONE if done else ExitCode.FOUND


def _stands(settings: Settings, options: argparse.Namespace) -> Offsets:
    """Return the offsets of the one connector that is meant; raises LegacyMMError."""
    found = next_offsets(_entries(settings.target.connection, options.offsets_topic))
    meant = [
        each for each in found if options.connector in (None, each.name) and options.cluster in (None, each.cluster)
    ]
    if len(meant) != 1:
        raise HostError(f"{options.offsets_topic} holds {_names(meant or found)}: one is needed")
    return found[meant[0]]


def _entries(target: ConnectionSettings, topic: str) -> Iterator[Entry]:
    """Read each partition in its order: a key is always in the same one."""
    inspector = NativeInspector(target)
    with at_cluster("target", target):
        count = inspector.partitions(_deadline()).get(topic)
    if count is None:
        raise HostError(f"there is no topic {topic} at the target")
    inspector.settled_ends([TopicPartition(topic, number) for number in range(count)], _deadline())
    for _, record in read_topic(target, topic, _deadline()):
        yield record.key, record.value


def _names(connectors: Mapping[Connector, object] | Sequence[Connector]) -> str:
    named = [f"--connector {each.name} --cluster {each.cluster}" for each in connectors]
    return f"offsets of {' and '.join(named)}" if named else "no offsets of MirrorMaker 2's source connectors"


def _deadline() -> Deadline:
    return Deadline.after(_ASK_TIMEOUT)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


BODIES = {"adopt": CommandBody(_add_options, _adopt)}
