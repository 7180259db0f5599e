"""Every option that any release of the legacy tool had, one row for each of its texts (contract 1.1)."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.words.legacy_tool.joptsimple import LegacyOption

VersionNumbers = tuple[int, ...]

_CONFIG_FILE = "config file"
_REGEX = "Java regex (String)"
_LISTENER_ARGUMENT = "Arguments passed to custom rebalance listener constructor as a string."
_LISTENER_ARGS = "Arguments used by custom rebalance listener for mirror maker consumer"
_HANDLER_ARGUMENT = "Arguments passed to message handler constructor."
_INTERVAL_ARGUMENT = "offset commit interval in millisecond"


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The releases that had this option with these texts."""

    option: LegacyOption
    since: VersionNumbers = (0, 8)
    until: VersionNumbers = (4,)
    """The first release without it."""


ROWS = (
    Lifetime(
        LegacyOption(
            "abort.on.send.failure",
            "Configure the mirror maker to exit on a failed send.",
            "Stop the entire mirror maker when a send failure occurs",
            default="true",
        ),
        since=(0, 9),
    ),
    Lifetime(LegacyOption("blacklist", "Blacklist of topics to mirror.", _REGEX), until=(0, 9)),
    Lifetime(
        LegacyOption("blacklist", "Blacklist of topics to mirror. Only old consumer supports blacklist.", _REGEX),
        since=(0, 9),
        until=(2,),
    ),
    Lifetime(
        LegacyOption(
            "consumer.config",
            "Consumer config to consume from a source cluster. You may specify multiple of these.",
            _CONFIG_FILE,
        ),
        until=(0, 9),
    ),
    Lifetime(
        LegacyOption(
            "consumer.config", "Embedded consumer config for consuming from the source cluster.", _CONFIG_FILE
        ),
        since=(0, 9),
    ),
    Lifetime(
        LegacyOption(
            "consumer.rebalance.listener",
            "The consumer rebalance listener to use for mirror maker consumer.",
            "A custom rebalance listener of type ConsumerRebalanceListener",
        ),
        since=(0, 9),
    ),
    Lifetime(LegacyOption("help", "Print this message."), until=(2, 2)),
    Lifetime(LegacyOption("help", "Print usage information."), since=(2, 2)),
    Lifetime(LegacyOption("include", "List of included topics to mirror.", _REGEX), since=(3,)),
    Lifetime(
        LegacyOption(
            "message.handler",
            "Message handler which will process every record in-between consumer and producer.",
            "A custom message handler of type MirrorMakerMessageHandler",
        ),
        since=(0, 9),
    ),
    Lifetime(LegacyOption("message.handler.args", _LISTENER_ARGS, _HANDLER_ARGUMENT), since=(0, 9), until=(0, 10)),
    Lifetime(
        LegacyOption(
            "message.handler.args",
            "Arguments used by custom message handler for mirror maker.",
            _HANDLER_ARGUMENT,
        ),
        since=(0, 10),
    ),
    Lifetime(LegacyOption("new.consumer", "Use new consumer in mirror maker."), since=(0, 9), until=(0, 10, 1)),
    Lifetime(
        LegacyOption("new.consumer", "Use new consumer in mirror maker (this is the default)."),
        since=(0, 10, 1),
        until=(2,),
    ),
    Lifetime(
        LegacyOption(
            "new.consumer",
            "DEPRECATED Use new consumer in mirror maker (this is the default so this option will be "
            "removed in a future version).",
        ),
        since=(2,),
    ),
    Lifetime(LegacyOption("new.producer", "Use the new producer implementation."), since=(0, 8, 2), until=(0, 9)),
    Lifetime(
        LegacyOption(
            "num.producers", "Number of producer instances", "Number of producers", type="Integer", default="1"
        ),
        until=(0, 9),
    ),
    Lifetime(
        LegacyOption("num.streams", "Number of consumption streams.", "Number of threads", type="Integer", default="1")
    ),
    Lifetime(
        LegacyOption(
            "offset.commit.interval.ms",
            "Offset commit interval in ms",
            _INTERVAL_ARGUMENT,
            type="Integer",
            default="60000",
        ),
        since=(0, 9),
        until=(0, 10, 1),
    ),
    Lifetime(
        LegacyOption(
            "offset.commit.interval.ms",
            "Offset commit interval in ms.",
            _INTERVAL_ARGUMENT,
            type="Integer",
            default="60000",
        ),
        since=(0, 10, 1),
    ),
    Lifetime(LegacyOption("producer.config", "Embedded producer config.", _CONFIG_FILE)),
    Lifetime(
        LegacyOption(
            "queue.size",
            "Number of messages that are buffered between the consumer and producer",
            "Queue size in terms of number of messages",
            type="Integer",
            default="10000",
        ),
        until=(0, 9),
    ),
    Lifetime(
        LegacyOption("rebalance.listener.args", _LISTENER_ARGS, _LISTENER_ARGUMENT), since=(0, 9), until=(0, 10, 1)
    ),
    Lifetime(LegacyOption("rebalance.listener.args", f"{_LISTENER_ARGS}.", _LISTENER_ARGUMENT), since=(0, 10, 1)),
    Lifetime(LegacyOption("version", "Display Kafka version."), since=(2, 3)),
    Lifetime(LegacyOption("whitelist", "Whitelist of topics to mirror.", _REGEX), until=(3,)),
    Lifetime(
        LegacyOption(
            "whitelist",
            "DEPRECATED, use --include instead; ignored if --include specified. List of included topics to mirror.",
            _REGEX,
        ),
        since=(3,),
    ),
)


def options_of(release: VersionNumbers) -> dict[str, LegacyOption]:
    """Return the options of a release by name."""
    return {row.option.name: row.option for row in ROWS if row.since <= release < row.until}
