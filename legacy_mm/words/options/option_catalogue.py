"""Our own options, which the legacy tool never had: one row each, and the typed values they become.

They are read with the legacy tool's habits (`words.legacy_tool.command_line` finds the words) and given their
types, defaults and environment variables by `cli.parser`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from legacy_mm.base.option import Option, boolean, milliseconds, port_number, whole_number
from legacy_mm.base.settings import (
    JvmSettings,
    MetricsSettings,
    ProcessSettings,
    ReceiptSettings,
    RestSettings,
    SparkSettings,
)
from legacy_mm.features.rows import BY_NAME, FLAGS, WITHOUT_EFFECT, spelled_today
from legacy_mm.words.options.rest_options import check_rest

AskedEngine = Literal["auto", "batches", "records"]
ProducerTuning = Literal["meaning", "literal"]
Interceptors = Literal["refuse", "ignore"]
LogFormat = Literal["log4j", "json"]
OnGap = Literal["log", "fail"]
NewTopicsFrom = Literal["reset", "earliest"]
OnHandlerError = Literal["fail", "quarantine"]
OnSendError = Literal["legacy", "quarantine"]

NO_ENGINES = "--engine has no effect: one engine copies all records, as whole batches."
EMBEDDED = "embedded"
"""The value of `--spark.master` that means: Spark in this process's own tree."""

OPTIONS = (
    Option(
        name="spark.master",
        default=EMBEDDED,
        argument="master",
        help="Where the copying runs: embedded (in this process's own tree), or the address of a "
        "Spark master such as spark://host:7077.",
        owner="legacy_mm.runtime.spark.session",
    ),
    Option(
        name="spark.conf",
        default=None,
        argument="name=value",
        help="A Spark property; may be repeated. Values that break a guarantee are refused.",
        owner="legacy_mm.runtime.spark.session",
        repeated=True,
    ),
    Option(
        name="engine",
        default=None,
        argument="engine",
        help="Accepted, without effect: one engine copies all records, as whole batches.",
        owner="legacy_mm.words.options.option_catalogue",
        choices=("auto", "batches", "records"),
    ),
    Option(
        name="producer.tuning",
        default="meaning",
        argument="reading",
        help="How producer properties that only tune are read: meaning translates "
        "max.in.flight.requests.per.connection=1 and small batch.size to what they achieve in "
        "this client, literal takes the numbers as they are.",
        owner="legacy_mm.words.java_clients.client_properties.producer",
        choices=("meaning", "literal"),
    ),
    Option(
        name="interceptors",
        default="refuse",
        argument="what",
        help="What to do with Java classes in interceptor.classes that are not known to leave records as they are: "
        "refuse to start, or ignore them, if they only trace or count.",
        owner="legacy_mm.words.java_clients.client_properties.common",
        choices=("refuse", "ignore"),
    ),
    Option(
        name="shutdown.timeout.ms",
        default="30000",
        argument="ms",
        help="How long a stop may take before the mirror ends without what is left.",
        owner="legacy_mm.flow.lifecycle",
        type=milliseconds,
    ),
    Option(
        name="on.gap",
        default="log",
        argument="what",
        help="What to do when offsets of the source cannot be read any more (retention, deleted records, a log cut "
        "short, a topic made again): log says it and goes on as the legacy tool does, fail ends with 255.",
        owner="legacy_mm.controlplane.positions",
        choices=("log", "fail"),
    ),
    Option(
        name="new.topics.from",
        default="reset",
        argument="where",
        help="Where a partition without a committed offset begins, with auto.offset.reset=latest: reset is the end of "
        "its log, as in the legacy tool, and a WARN line says what is skipped; earliest is its first record, and only "
        "at the group's first start the end, which is committed before anything is read, so a kill skips nothing.",
        owner="legacy_mm.controlplane.group_start",
        choices=("reset", "earliest"),
    ),
    Option(
        name="receipts",
        default=None,
        argument="file",
        help="Write a JSON line per partition for each commit, and a summary at the end, to this file (mode 0600) or, "
        "for -, to stdout; off by default.",
        owner="legacy_mm.controlplane.receipts",
    ),
    Option(
        name="receipts.max.bytes",
        default="100000000",
        argument="bytes",
        help="A receipts file of this size becomes FILE.1, and so on to FILE.5; 0 lets it grow.",
        owner="legacy_mm.controlplane.receipts",
        type=whole_number,
    ),
    Option(
        name="metrics.port",
        default=None,
        argument="port",
        help="Serve metrics for Prometheus at http://address:port/metrics, and /healthz and /readyz; off by default.",
        owner="legacy_mm.metrics.prometheus",
        type=port_number,
    ),
    Option(
        name="metrics.address",
        default="127.0.0.1",
        argument="address",
        help="Where the metrics port listens: this host only by default, 0.0.0.0 for everybody.",
        owner="legacy_mm.metrics.prometheus",
    ),
    Option(
        name="admin.port",
        default=None,
        argument="port",
        help="Serve Kafka Connect's REST API at http://address:port/, and beside it /metrics, /healthz and /readyz; "
        "off by default.",
        owner="legacy_mm.connect.rest.rest_server",
        type=port_number,
    ),
    Option(
        name="admin.address",
        default="127.0.0.1",
        argument="address",
        help="Where the admin port listens: this host only by default. Any other address needs TLS, and a token or a "
        "client CA.",
        owner="legacy_mm.connect.rest.rest_server",
    ),
    Option(
        name="admin.token.file",
        default=None,
        argument="file",
        help="A file (mode 0600) with a token that callers of the admin port give, as `Authorization: Bearer TOKEN` "
        "or as the password of Basic with any name; /healthz and /readyz need none.",
        owner="legacy_mm.connect.rest.access",
    ),
    Option(
        name="admin.actions",
        default="false",
        argument="true|false",
        help="Let the admin port change things: pause, resume, stop, restart, configurations, offsets, log levels. "
        "Needs a token.",
        owner="legacy_mm.connect.rest.access",
        type=boolean,
    ),
    Option(
        name="admin.tls.certificate",
        default=None,
        argument="file",
        help="The certificate of the admin port and its chain (PEM): it speaks HTTPS then.",
        owner="legacy_mm.connect.rest.rest_server",
    ),
    Option(
        name="admin.tls.key",
        default=None,
        argument="file",
        help="The private key of that certificate (PEM, without a password), if it is in a file of its own.",
        owner="legacy_mm.connect.rest.rest_server",
    ),
    Option(
        name="admin.tls.client.ca",
        default=None,
        argument="file",
        help="Certificates (PEM) of authorities: callers of the admin port need a certificate of one of them; /healthz "
        "and /readyz need none.",
        owner="legacy_mm.connect.rest.rest_server",
    ),
    Option(
        name="admin.insecure",
        default="false",
        argument="true|false",
        help="Let the admin port listen at an address that others reach without TLS and login.",
        owner="legacy_mm.words.options.rest_options",
        type=boolean,
    ),
    Option(
        name="log.level",
        default=None,
        argument="level",
        help="Level of the root logger, whatever a log4j file says; without both it is WARN.",
        owner="legacy_mm.logs.root_logger",
        choices=("TRACE", "DEBUG", "INFO", "WARN", "ERROR"),
    ),
    Option(
        name="log.format",
        default="log4j",
        argument="format",
        help="How lines on the console look: log4j is the layout of the log4j file or of the legacy tool, "
        "json is one object per line.",
        owner="legacy_mm.logs.root_logger",
        choices=("log4j", "json"),
    ),
    Option(
        name="features.config",
        default=None,
        argument="file",
        help="A Java properties file with options of this list; the command line and the environment come before it.",
        owner="legacy_mm.cli.parser",
        is_file_of_options=True,
    ),
    Option(
        name="legacy.release",
        default="3.9",
        argument="release",
        help="The release of Kafka whose command line and messages these are, such as 0.8.2, 1.1 or 2.8.1.",
        owner="legacy_mm.words.legacy_tool.releases",
    ),
    Option(
        name="source.bootstrap.servers",
        default="",
        argument="host:port,...",
        help="Brokers of the source, for a consumer file that names only zookeeper.connect (--legacy.release "
        "0.8.0 to 1.1).",
        owner="legacy_mm.words.legacy_tool.zookeeper_files",
    ),
    Option(
        name="handler.step",
        default=None,
        argument="name=value",
        help="A built-in message handler; may be repeated, each sees what the one before made: rename.prefix=, "
        "rename.suffix=, rename.map=pattern->topic,... (Java's expressions, groups as $1), keep.partition, "
        "filter.topic=, filter.key=, filter.header=name:pattern, provenance=cluster.",
        owner="legacy_mm.handlers.built_in",
        repeated=True,
    ),
    Option(
        name="handler.classpath",
        default="",
        argument="path:...",
        help="Jars and folders of message handlers and rebalance listeners, such as the old Kafka's libs/*; behind "
        "those of CLASSPATH. Folders are also searched for Python modules.",
        owner="legacy_mm.handlers.loader",
    ),
    Option(
        name="handler.on.error",
        default="fail",
        argument="reaction",
        help="What a record does on which the message handler fails: fail ends the mirror as the legacy tool did, "
        "quarantine sets the record aside and goes on.",
        owner="legacy_mm.dataplane.handler_stage",
        choices=("fail", "quarantine"),
    ),
    Option(
        name="send.on.error",
        default="legacy",
        argument="reaction",
        help="What becomes of a record that the target refuses for its own sake (too large, its timestamp, no key in a "
        "compacted topic): legacy is what abort.on.send.failure says, quarantine sets the record aside and goes on.",
        owner="legacy_mm.dataplane.refused_batches",
        choices=("legacy", "quarantine"),
    ),
    Option(
        name="quarantine.topic",
        default=None,
        argument="topic",
        help="The topic at the target for quarantined records.",
        owner="legacy_mm.handlers.quarantine",
    ),
    Option(
        name="quarantine.file",
        default="legacy-mm-quarantine.jsonl",
        argument="file",
        help="The file for quarantined records where there is no topic for them, and for records refused by the target "
        "that this topic does not take either; only its owner can read it.",
        owner="legacy_mm.handlers.quarantine",
    ),
)

ALL_OPTIONS = (*OPTIONS, *(row.option for row in FLAGS), *WITHOUT_EFFECT.values())
"""The feature flags too."""
_BY_NAME = {row.name: row for row in ALL_OPTIONS}


def option_called(name: str) -> Option | None:
    """Return the option of ours of that name, in any of its spellings; a whole name before a family's beginning."""
    if (row := _BY_NAME.get(name)) is not None:
        return row
    today = spelled_today(name)
    return None if today is None else BY_NAME[today].option


@dataclass(frozen=True, slots=True)
class OwnOptions:
    """The values of `OPTIONS`, typed; field names are the rows' attributes. Flags are as they were given."""

    spark_master: str = EMBEDDED
    spark_conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    engine: AskedEngine | None = None
    producer_tuning: ProducerTuning = "meaning"
    interceptors: Interceptors = "refuse"
    shutdown_timeout_ms: int = 30_000
    on_gap: OnGap = "log"
    new_topics_from: NewTopicsFrom = "reset"
    receipts: str | None = None
    receipts_max_bytes: int = 100_000_000
    metrics_port: int | None = None
    metrics_address: str = "127.0.0.1"
    admin_port: int | None = None
    admin_address: str = "127.0.0.1"
    admin_token_file: str | None = None
    admin_actions: bool = False
    admin_tls_certificate: str | None = None
    admin_tls_key: str | None = None
    admin_tls_client_ca: str | None = None
    admin_insecure: bool = False
    log_level: str | None = None
    log_format: LogFormat = "log4j"
    features_config: str | None = None
    legacy_release: str = "3.9"
    source_bootstrap_servers: str = ""
    handler_step: Sequence[str] = ()
    handler_classpath: str = ""
    handler_on_error: OnHandlerError = "fail"
    send_on_error: OnSendError = "legacy"
    quarantine_topic: str | None = None
    quarantine_file: str = "legacy-mm-quarantine.jsonl"
    features: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    """`features.flags` reads them."""

    def process(self, jvm: JvmSettings) -> ProcessSettings:
        """Return what all flows of the process share; `jvm` is what the environment says of Java."""
        return ProcessSettings(
            spark=SparkSettings(None if self.spark_master == EMBEDDED else self.spark_master, self.spark_conf, jvm),
            shutdown_timeout=self.shutdown_timeout_ms / 1000,
            metrics=MetricsSettings(self.metrics_port, self.metrics_address),
            rest=self.rest(),
            receipts=ReceiptSettings(self.receipts, self.receipts_max_bytes) if self.receipts else None,
        )

    def rest(self) -> RestSettings:
        """Return what is said of the admin port; raise ConfigurationError for what would be open to others."""
        rest = RestSettings(
            port=self.admin_port,
            address=self.admin_address,
            token_file=self.admin_token_file,
            actions=self.admin_actions,
            certificate=self.admin_tls_certificate,
            key=self.admin_tls_key,
            client_ca=self.admin_tls_client_ca,
            insecure=self.admin_insecure,
        )
        check_rest(rest)
        return rest
