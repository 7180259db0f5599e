"""`legacy-mm verify`: does the target hold what the source holds? A Spark job over the data, without any ledger."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from legacy_mm import logs
from legacy_mm.clock import Deadline
from legacy_mm.compat import client_connection, topic_pattern
from legacy_mm.config.settings import SparkSettings
from legacy_mm.errors import HostError, LegacyMMError
from legacy_mm.spark.session import SparkHost

EQUAL, FAILED, DIFFERENT = 0, 1, 2
_STOP_SECONDS = 5.0
_HOUR_SECONDS = 3600


def main(words: Sequence[str]) -> int:
    """0: equal; 2: different; 1: it could not be found out."""
    options = _parser().parse_args(words)
    logs.silence()
    try:
        return _verify(options)
    except LegacyMMError as error:
        sys.stderr.write(f"{error}\n")
        return FAILED


def _verify(options: argparse.Namespace) -> int:
    connections = {
        "source": client_connection.read(options.source_config),
        "target": client_connection.read(options.target_config),
    }
    try:
        from legacy_mm.verify.comparison import compare
    except ImportError as error:
        raise HostError(f"this command needs more packages: pip install 'legacy-mm[verify]' ({error})") from error
    pattern = topic_pattern.topic_settings(options.topics, exclude_internal=True).pattern
    host = SparkHost(SparkSettings(), streams=options.parallel, preload="")
    try:
        context = host.context()
        matcher = host.jvm.topic_matcher(pattern)
        found = compare(
            context,
            connections,
            lambda names: matcher.matching(frozenset(names)),
            host.folder,
            timed=not options.ignore_timestamps,
        )
    finally:
        host.stop(Deadline.after(_STOP_SECONDS))
    for total in sorted(found.totals, key=lambda each: (each.topic, each.side)):
        sys.stdout.write(f"{total.topic}: {total.records} records at the {total.side}, hash {total.hash:x}\n")
    for row in found.differences:
        hour = datetime.fromtimestamp(row.hour * _HOUR_SECONDS, UTC).strftime("%Y-%m-%d %H:00 UTC")
        side = "source" if row.kind == "missing" else "target"
        sys.stdout.write(
            f"{row.topic}: {row.records} records {row.kind}, {side} partition {row.partition}, "
            f"offsets {row.first_offset} to {row.last_offset}, {hour}\n"
        )
    return DIFFERENT if found.differences else EQUAL


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="legacy-mm verify", allow_abbrev=False)
    parser.add_argument("--source-config", required=True, help="a Java client's properties file for the source")
    parser.add_argument("--target-config", required=True, help="the same for the target")
    parser.add_argument("--topics", required=True, help="a Java regular expression, as --include")
    parser.add_argument("--parallel", type=int, default=1, help="the more, the more slices are read at once (1)")
    parser.add_argument("--ignore-timestamps", action="store_true", help="for targets that stamp records themselves")
    return parser
