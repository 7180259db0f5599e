"""A file becomes the flows of a node, or the error with which the driver ends."""

from __future__ import annotations

import logging
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.secret import Secret
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2 import driver
from legacy_mm.words.mirror_maker_2.connector_properties import CONNECTORS
from legacy_mm.words.mirror_maker_2.driver import DriverRun
from legacy_mm.words.mirror_maker_2.driver_line import DriverLine
from legacy_mm.words.options.option_catalogue import OwnOptions

AB = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\nA->B.enabled = true\n"
ABC = f"{AB.replace('A, B', 'A, B, C')}C.bootstrap.servers = c:9092\n"


def run(folder: Path, text: str, *clusters: str) -> DriverRun:
    (folder / "mm2.properties").write_text(text)
    line = DriverLine(str(folder / "mm2.properties"), clusters, ())
    return driver.translate_driver(driver.load(line), ClientTranslation(Environment(), OwnOptions()))


def test_streams_are_numbered_through_all_flows(tmp_path: Path) -> None:
    made = run(tmp_path, f"{AB}B->A.enabled = true\n")
    assert [(str(each.pair), each.settings.first_stream, each.settings.streams) for each in made.flows] == [
        ("A->B", 0, 1),
        ("B->A", 1, 1),
    ]


def test_one_node_serves_its_clusters(tmp_path: Path) -> None:
    assert [str(each.pair) for each in run(tmp_path, AB, "B").flows] == ["A->B"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("A.bootstrap.servers = a:1\n", 'Missing required configuration "clusters"'),
        ("clusters = A\nA.bootstrap.servers = a:1\n", "No source->target replication flows"),
        (AB.replace("A.bootstrap", "C.bootstrap"), r"A\.bootstrap\.servers is missing"),
        (f"{AB}offset.storage.replication.factor = 1 # one\n", "Not a number of type SHORT"),
        (f"{AB}replication.policy.class = com.acme.Policy\n", r"com\.acme\.Policy"),
        (AB.replace("B", "B~!@$&*()+'/?#[]%"), "is not possible, because names of topics hold it"),
        (f"{AB}security.protocol = abc\n", "Invalid value abc for configuration security.protocol"),
        (f"{AB}B.security.protocol = abc\n", "Invalid value abc for configuration security.protocol"),
    ],
)
def test_the_driver_ends(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=why):
        run(tmp_path, text)


CHAIN = f"{ABC}A->C.enabled = true\n"
COMMENT = "; in such a file a comment needs a line of its own: take it away from behind the value"
NOT_A_NUMBER = "org.apache.kafka.common.config.ConfigException: Invalid value {} for configuration {}: Not a number of"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("B.producer.linger.ms = 5 # x", f"{NOT_A_NUMBER.format('5 # x', 'linger.ms')} type LONG{COMMENT}"),
        (
            "A->B.producer.override.linger.ms = 5 # x",
            f"{NOT_A_NUMBER.format('5 # x', 'linger.ms')} type LONG{COMMENT}",
        ),
        ("A->B.consumer.max.poll.records = x", f"{NOT_A_NUMBER.format('x', 'max.poll.records')} type INT"),
        (
            'A->B.source.consumer.max.poll.records = "5"',
            NOT_A_NUMBER.format('"5"', "max.poll.records")
            + " type INT; the quotes are a part of the value: leave them out",
        ),
        ("B.offset.flush.interval.ms = 1 s", f"{NOT_A_NUMBER.format('1 s', 'offset.flush.interval.ms')} type LONG"),
        ("B.session.timeout.ms = 1 // s", f"{NOT_A_NUMBER.format('1 // s', 'session.timeout.ms')} type INT{COMMENT}"),
        (
            "A->B.producer.override.acks = yes",
            "org.apache.kafka.common.config.ConfigException: Invalid value yes for configuration acks: String must be "
            "one of: all, -1, 0, 1",
        ),
        (
            "B.bootstrap.servers = b:1 # x",
            "org.apache.kafka.common.KafkaException: Failed to construct kafka producer: Caused by: "
            "org.apache.kafka.common.config.ConfigException: Invalid url in bootstrap.servers: b:1 # x" + COMMENT,
        ),
        ("A->B.exactly.once = yes", "exactly.once: 'yes' is neither true nor false"),
        (
            "A->B.start.from = 2025-11-01",
            "start.from: '2025-11-01' has no zone: write Z for UTC, or +01:00, behind it",
        ),
        ("A->B.refresh.topics.interval.seconds = 0", "refresh.topics.interval.seconds: 0 is too small"),
        (
            "A->B.replication.policy.separator = . # dot",
            "replication.policy.separator=. # dot is not possible, because names of topics hold it, which have "
            f"letters, digits, dots, dashes and underscores only{COMMENT}",
        ),
    ],
)
def test_a_value_that_one_flow_cannot_use_is_named_with_its_line_and_leaves_the_others(
    line: str, why: str, tmp_path: Path
) -> None:
    made = run(tmp_path, f"{CHAIN}{line}\n")
    assert "A->C" in {str(each.pair) for each in made.flows}
    (refused,) = (each for each in made.refused if str(each.pair) == "A->B")
    assert str(refused.error) == f"{line}: {why}"


@pytest.mark.parametrize(
    ("line", "connectors", "why"),
    [
        ("refresh.topics.interval.seconds = 60  # x", "source", f"Not a number of type LONG{COMMENT}"),
        ("replication.factor = 99999999999", "source", "Not a number of type INT"),
        ("tasks.max = 0", "source checkpoint heartbeat", "Value must be at least 1"),
        ("offset-syncs.topic.location = both", "source checkpoint", "String must be one of: source, target"),
        ("errors.tolerance = some", "source checkpoint heartbeat", "String must be one of: none, all"),
        ("sync.topic.acls.enabled = no", "source", "Expected value to be either true or false"),
        ("emit.checkpoints.interval.seconds = 6 # x", "checkpoint", f"Not a number of type LONG{COMMENT}"),
        ("emit.heartbeats.interval.seconds = 6 # x", "heartbeat", f"Not a number of type LONG{COMMENT}"),
    ],
)
def test_what_a_connector_refuses_leaves_the_other_connectors_and_flows(
    line: str, connectors: str, why: str, tmp_path: Path
) -> None:
    made = run(tmp_path, f"{CHAIN}A->B.{line}\n")
    assert [note.text for note in made.notes if note.level == logging.ERROR] == [
        f"Failed to configure {name} connector for A->B: A->B.{line}: {why}"
        for kind, name in CONNECTORS.items()
        if kind in connectors.split()
    ]
    assert made.refused == ()
    flow = next(each for each in made.flows if str(each.pair) == "A->B")
    left = {"source", "checkpoint", "heartbeat"} - set(connectors.split())
    runs = left if "source" in left else left & {"heartbeat"}
    assert flow.connectors == tuple(name for kind, name in CONNECTORS.items() if kind in runs)


def test_the_value_of_a_secret_is_not_shown(tmp_path: Path) -> None:
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="s3cret-word"'
    lines = "B.security.protocol = SASL_PLAINTEXT\nB.sasl.mechanism = PLAIN\n"
    made = run(tmp_path, f"{CHAIN}{lines}B.sasl.jaas.config = {login} # x\n")
    (refused,) = (each for each in made.refused if str(each.pair) == "A->B")
    assert str(refused.error).startswith("B.sasl.jaas.config = [hidden]: ")
    assert "s3cret" not in str(refused.error)


def test_a_flow_without_a_right_login_leaves_the_others(tmp_path: Path) -> None:
    made = run(tmp_path, CHAIN)

    def check(settings: Settings) -> None:
        if settings.target.name == "B":
            raise ConfigurationError("no such key")

    checked = made.checked(check)
    assert {str(each.pair) for each in checked.refused} == {"A->B", "C->B"}
    assert "A->C" in {str(each.pair) for each in checked.flows}


@pytest.mark.parametrize(("more", "ends"), [("", True), ("C->A.enabled = true\n", False)])
def test_a_node_whose_flows_cannot_copy_ends(more: str, ends: bool, tmp_path: Path) -> None:
    """Heartbeats alone would look like a mirror that runs."""
    made = run(tmp_path, f"{ABC}{more}")

    def check(settings: Settings) -> None:
        if settings.flow == "A->B":
            raise ConfigurationError("no such key")

    with pytest.raises(ConfigurationError, match="no such key") if ends else nullcontext():
        made.checked(check)


@pytest.mark.parametrize("text", ["true # main", "TRUE ", "yes"])
def test_a_flow_that_is_off_by_mistake_is_told(text: str, tmp_path: Path) -> None:
    """Without heartbeats the driver has no flow there."""
    off = f"{ABC}emit.heartbeats.enabled = false\nA->C.enabled = {text}\n"
    said = f"A->C.enabled = {text!r} is not the word true, so the driver takes A->C for off: write nothing behind it."
    assert said in [note.text for note in run(tmp_path, off).notes]
    alone = AB.replace("= true", f"= {text}") + "emit.heartbeats.enabled = false\n"
    with pytest.raises(ConfigurationError) as caught:
        run(tmp_path, alone)
    assert caught.value.__notes__ == [said.replace("A->C", "A->B")]


def test_what_looks_like_a_comment_in_a_text_is_told(tmp_path: Path) -> None:
    text = f"{AB}A->B.topics = orders, pay # two\nA->B.groups = a#b\ntopics.exclude = x ! y\n"
    assert [note.text for note in run(tmp_path, text).notes if "comment" in note.text] == [
        "What looks like a comment behind a value is a part of the value, as with MirrorMaker 2: A->B.topics, "
        "topics.exclude."
    ]


def test_values_of_a_provider_are_looked_up_and_hidden(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("password = s3cret-word\n")
    text = (
        f"{AB}config.providers = file\n"
        "config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider\n"
        "B.security.protocol = SASL_PLAINTEXT\nB.sasl.mechanism = PLAIN\n"
        "B.sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required username=u "
        f'password="${{file:{tmp_path / "secrets"}:password}}";\n'
    )
    made = run(tmp_path, text)
    flow = next(each for each in made.flows if each.pair.target == "B")
    assert flow.settings.target.connection.sasl.password == Secret("s3cret-word")
    assert "s3cret-word" in made.secrets
    assert "s3cret-word" not in repr(made)


def test_a_list_of_providers_is_trimmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks, a comma at the end and a line that goes on."""
    monkeypatch.setenv("MIRROR_TOPICS", "orders.*")
    package = "org.apache.kafka.common.config.provider."
    made = run(
        tmp_path,
        f"{AB}config.providers = file, \\\n  env ,\nconfig.providers.file.class = {package}FileConfigProvider\n"
        f"config.providers.env.class = {package}EnvVarConfigProvider\nA->B.topics = ${{env:MIRROR_TOPICS}}\n",
    )
    flow = next(each for each in made.flows if each.pair.target == "B")
    assert flow.settings.features.topics is not None
    assert flow.settings.features.topics.include == ("orders.*",)
    assert not [note for note in made.notes if "stays as it is written" in note.text]


def test_a_reference_that_nobody_looks_up_is_told_at_the_start(tmp_path: Path) -> None:
    made = run(tmp_path, f'{AB}A.sasl.jaas.config = x.PlainLoginModule required password="${{env:PW}}";\n')
    assert [(note.level, note.text) for note in made.notes if "PW" in note.text or "stays" in note.text] == [
        (
            logging.WARNING,
            "A.sasl.jaas.config holds ${...}, which stays as it is written: config.providers names no such provider, "
            "so declare it there.",
        )
    ]


def test_every_value_that_is_looked_up_or_secret_is_hidden_before_anything_is_said(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("anything = plain-value\n")
    (tmp_path / "mm2.properties").write_text(
        f"{AB}config.providers = file\nA.ssl.key.password = k3y-word\n"
        "config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider\n"
        f"A->B.topics = ${{file:{tmp_path / 'secrets'}:anything}}\n"
    )
    file = driver.load(DriverLine(str(tmp_path / "mm2.properties"), (), ()))
    assert {"plain-value", "k3y-word"} <= file.secrets
    assert "k3y-word" not in repr(file)


EXACT = "B.exactly.once.source.support = enabled\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(EXACT, ["A->B.exactly.once=true"], id="a flow"),
        pytest.param(EXACT.replace("enabled", "ENABLED "), ["A->B.exactly.once=true"], id="as Java reads it"),
        pytest.param(
            f"{EXACT}C->B.enabled = true\nB->A.enabled = true\n",
            ["A->B.exactly.once=true and C->B.exactly.once=true"],
            id="all flows into the cluster",
        ),
        pytest.param(f"{EXACT}exactly.once = true\n", [], id="it is on for all"),
        pytest.param(
            f"{EXACT}C->B.enabled = true\nA->B.exactly.once = true\n", ["C->B.exactly.once=true"], id="for one"
        ),
        pytest.param(EXACT.replace("enabled", "preparing"), [], id="preparing is no wish"),
        pytest.param(EXACT.replace("B.", "A."), [], id="nothing is copied there"),
    ],
)
def test_mirror_maker_2_s_exactly_once_turns_nothing_on_and_what_does_is_said(
    text: str, lines: list[str], tmp_path: Path
) -> None:
    made = run(tmp_path, f"{ABC}{text}")
    found = [note.text for note in made.notes if "records are copied at least once" in note.text]
    assert found == [
        "B.exactly.once.source.support: records are copied at least once here; to copy exactly once write "
        f"{line}, which needs other rights at B."
        for line in lines
    ]
    is_on = {str(each.pair) for each in made.flows if each.settings.features[EXACTLY_ONCE] is not None}
    assert is_on == ({"A->B"} if "\nexactly.once" in text or "A->B.exactly.once" in text else set())


def test_what_is_said_at_the_start(tmp_path: Path) -> None:
    text = f"{AB}max.tasks = 3\ntopics.blacklist = x\nemit.checkpoints.enabled = false\n"
    notes = run(tmp_path, text).notes
    assert [note.text.split(":")[0] for note in notes if note.level == logging.WARNING][:2] == [
        "These keys have no effect, as with MirrorMaker 2",
        "topics.blacklist",
    ]
    assert [note.text for note in notes if note.level == logging.ERROR] == [
        "Failed to configure MirrorCheckpointConnector connector for A->B: emit.checkpoints.enabled=false, which Kafka "
        "3.9 and later do not allow for this connector"
    ]


def test_the_release_of_the_file(tmp_path: Path) -> None:
    texts = [note.text for note in run(tmp_path, f"{AB}mm2.compatibility = 4\ntopics.blacklist = x\n").notes]
    assert any("ignores these names, and so does mm2.compatibility=4" in text for text in texts)


IDENTITY = "replication.policy.class = IdentityReplicationPolicy\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{AB}B->A.enabled = true\n{IDENTITY}", "A->B and B->A both keep names: a topic that both mirror would go"),
        (f"{ABC}C->B.enabled = true\n{IDENTITY}", "A->B and C->B both keep names: topics of one name are mixed"),
        (
            AB.replace("A", "us.a"),
            "the alias us.a holds the separator '.': names of its copies do not tell that they are from there",
        ),
    ],
)
def test_what_names_do_not_tell_is_said(text: str, said: str, tmp_path: Path) -> None:
    assert [note for note in run(tmp_path, text).notes if note.text.startswith(said)]


FILTER = "A->B.transforms = f\nA->B.transforms.f.type = Filter\n"
DROP = "A->B.transforms = d\nA->B.transforms.d.type = DropHeaders\nA->B.transforms.d.headers = h\n"


def test_whoever_filters_by_transforms_breaks_circles_himself(tmp_path: Path) -> None:
    """A public file does: what was marked is filtered. A header without a filter breaks none."""
    both = f"{AB}B->A.enabled = true\n{IDENTITY}"
    notes = [[note.text for note in run(tmp_path, f"{both}{text}").notes] for text in (FILTER, DROP)]
    assert ["both keep names" in " ".join(each) for each in notes] == [False, True]


def test_a_class_of_a_jar_breaks_no_circle(tmp_path: Path) -> None:
    """It may do anything, but says nothing of it; a predicate of a jar goes with a Filter, which does."""
    with zipfile.ZipFile(tmp_path / "acme.jar", "w") as jar:
        for name in ("Mask", "Is"):
            jar.writestr(f"com/acme/{name}.class", b"")
    both = f"{AB}B->A.enabled = true\n{IDENTITY}B.plugin.path = {tmp_path / 'acme.jar'}\n"
    mask = "A->B.transforms = m\nA->B.transforms.m.type = com.acme.Mask\n"
    by_jar = "A->B.transforms.f.predicate = p\nA->B.predicates = p\nA->B.predicates.p.type = com.acme.Is\n"
    made = [run(tmp_path, f"{both}{text}") for text in (mask, f"{FILTER}{by_jar}")]
    notes = [" ".join(note.text for note in each.notes) for each in made]
    assert ["both keep names" in each for each in notes] == [True, False]


def test_what_transforms_leave_alone_is_said(tmp_path: Path) -> None:
    made = run(tmp_path, f"{AB}{FILTER}")
    own = "MirrorHeartbeatConnector and MirrorCheckpointConnector"
    said = f"A->B: transforms act on copied records, and not on those of {own}."
    assert [note.text for note in made.notes if "transforms" in note.text] == [said]
    assert [each.filters for each in made.flows] == [True, False]
    alone = f"{AB}{FILTER}emit.heartbeats.enabled = false\nemit.checkpoints.enabled = false\n"
    assert [note.text for note in run(tmp_path, alone).notes if "transforms" in note.text] == []


@pytest.mark.parametrize("text", [AB, f"{AB}B->A.enabled = true\n", f"{AB}{IDENTITY}", f"{ABC}C->B.enabled = true\n"])
def test_names_that_tell_enough(text: str, tmp_path: Path) -> None:
    assert [note.text for note in run(tmp_path, text).notes if note.level == logging.WARNING] == []


def test_what_the_flows_leave_out_is_said_once(tmp_path: Path) -> None:
    """An entry that both flows have is one line; a converter is each flow's."""
    text = f"{AB}B->A.enabled = true\ntopics = orders, 'pay'\nlisteners = http://:1\n"
    text += "value.converter = org.apache.kafka.connect.json.JsonConverter\n"
    said = [note.text for note in run(tmp_path, text).notes]
    assert sum("topics: \"'pay'\" matches no topic" in each for each in said) == 1
    assert sum("listeners: without effect" in each for each in said) == 1
    assert [each[:4] for each in said if "byte for byte" in each] == ["A->B", "B->A"]
