"""The legacy tool's message handler and rebalance listener, as settings."""

from __future__ import annotations

from pathlib import Path

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import HandlerSettings, ListenerSettings, QuarantineSettings
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.naming.policy_names import IDENTITY, LEGACY
from legacy_mm.words.legacy_tool.steps import LineReading
from legacy_mm.words.options.option_catalogue import OwnOptions
from legacy_mm.words.options.validate import runs_on_cluster


def handler(reading: LineReading, features: FeatureSettings) -> HandlerSettings | None:
    """Return the handler of the records; raises ConfigurationError for options that exclude each other."""
    line, options = reading.line, reading.options
    steps = tuple(options.handler_step)
    if features.detect_loops:
        steps += (f"loop.guard={features.naming.source_alias}>{features.naming.target_alias}",)
    if line.has("message.handler") and steps:
        other = "--handler.step" if options.handler_step else "detect.loops"
        raise ConfigurationError(f"--message.handler and {other} exclude each other: one of them handles records")
    if not line.has("message.handler") and not steps:
        return None
    if (policy := features.naming.policy) not in (LEGACY, IDENTITY):
        raise ConfigurationError(
            f"{policy} and a message handler exclude each other, because both say how topics are called"
        )
    return HandlerSettings(
        name=_name(line.value("message.handler") or ""),
        argument=line.value("message.handler.args") if line.has("message.handler.args") else None,
        steps=steps,
        class_path=reading.class_path,
        java_options=reading.environment.jvm.options,
    )


def quarantine(options: OwnOptions) -> QuarantineSettings:
    """Return which records are set aside, and where; a file and a script by its whole path.

    Raises ConfigurationError for a file that would be on a worker of a cluster.
    """
    made = QuarantineSettings(
        failed=options.handler_on_error == "quarantine",
        refused=options.send_on_error == "quarantine",
        topic=options.quarantine_topic,
        file=str(Path(options.quarantine_file).absolute()),
    )
    if made.needs_file and runs_on_cluster(options.spark_master):
        option = "--send.on.error" if made.refused else "--handler.on.error"
        raise ConfigurationError(
            f"{option} quarantine is not possible with --spark.master {options.spark_master}: the quarantine file "
            "would be on a worker, and lost with it (--handler.on.error with --quarantine.topic needs no file)"
        )
    return made


def listener(reading: LineReading) -> ListenerSettings | None:
    """Return the rebalance listener, if one is named."""
    line = reading.line
    if not line.has("consumer.rebalance.listener"):
        return None
    return ListenerSettings(
        name=_name(line.value("consumer.rebalance.listener") or ""),
        argument=line.value("rebalance.listener.args") if line.has("rebalance.listener.args") else None,
        class_path=reading.class_path,
    )


def _name(text: str) -> str:
    """Return a script by its whole path: a copy task may have another folder."""
    path, end, name = text.partition(".py")
    is_script = end and (not name or name.startswith(":"))
    return f"{Path(path + end).absolute()}{name}" if is_script else text
