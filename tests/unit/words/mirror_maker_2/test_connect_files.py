"""Files of Connect become flows; real bodies of requests mean what a reading of Connect's rules says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2.connect_files import ConnectorFile, flows_of, load, load_connector, load_worker
from legacy_mm.words.mirror_maker_2.connect_line import ConnectLine
from legacy_mm.words.mirror_maker_2.driver import translate_flows
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, Pair
from legacy_mm.words.mirror_maker_2.flow_reading import DEFAULT_LIST, FlowReading, ListWords
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun, translate_flow
from legacy_mm.words.options.option_catalogue import OwnOptions

RECORDED = Path(__file__).parents[4] / "compat" / "recorded" / "facts" / "mm2_files.json"
FILES = [row for row in json.loads(RECORDED.read_text()) if row["kind"] == "connector"]
PACKAGE = "org.apache.kafka.connect.mirror."
SOURCE = (
    f"name=s\nconnector.class={PACKAGE}MirrorSourceConnector\nsource.cluster.alias=A\ntarget.cluster.alias=B\n"
    "source.cluster.bootstrap.servers=a:1\ntarget.cluster.bootstrap.servers=b:1\ntopics=t\n"
)
CHECKPOINT = SOURCE.replace("MirrorSource", "MirrorCheckpoint").replace("name=s", "name=c")
CLIENTS = ClientTranslation(Environment(), OwnOptions())
DRIVER = "clusters=A,B\nA.bootstrap.servers=a:1\nB.bootstrap.servers=b:1\nA->B.enabled=true\n"
WORKER = "bootstrap.servers=b:1\noffset.storage.file.filename=/tmp/x\n"


def listed(words: ListWords) -> dict[str, Any]:
    return {"include": list(words.include), "exclude": DEFAULT_LIST if words.exclude is None else list(words.exclude)}


def policy(reading: FlowReading) -> dict[str, str]:
    words = reading.policy()
    separator = {} if words.separator is None else {"separator": words.separator}
    return {"class": words.name, **separator, "t_becomes": words.t_becomes or ""}


@pytest.mark.parametrize("row", FILES, ids=[row["id"] for row in FILES])
def test_a_real_connector(row: dict[str, Any], tmp_path: Path) -> None:
    expected = row["expect"]
    for (path, text), of_connector in zip(row["files"].items(), expected["connectors"], strict=True):
        file = tmp_path / Path(path).name
        file.write_text(text)
        connector = load_connector(str(file), {})
        (reading,) = flows_of({}, [connector])
        name = f"{connector.kind} ({reading.pair})"
        assert connector.kind == of_connector["connector"]
        assert sorted(connector.unknown) == sorted(of_connector.get("unknown", []))
        assert sorted(connector.of_others) == sorted(of_connector.get("not_of_this_connector", []))
        assert reading.features() == expected["features"][name]
        if connector.kind == "source":
            assert listed(reading.topics()) == expected["topics"][name]
            assert reading.text("source", "tasks.max") == of_connector["tasks_max"]
        if connector.kind == "checkpoint":
            assert listed(reading.groups()) == expected["groups"][name]
        if not expected["policy"][name]["t_becomes"].startswith("unsure"):
            assert policy(reading) == expected["policy"][name]


def flow(tmp_path: Path, *connectors: str, worker: str = WORKER) -> FlowRun:
    (tmp_path / "w").write_text(worker)
    paths = []
    for number, text in enumerate(connectors):
        paths.append(str(tmp_path / f"{number}.properties"))
        Path(paths[-1]).write_text(text)
    (reading,) = load(ConnectLine(str(tmp_path / "w"), tuple(paths), ())).flows()
    return translate_flow(reading, CLIENTS, 0)


def test_connectors_with_the_same_aliases_are_one_flow(tmp_path: Path) -> None:
    run = flow(tmp_path, SOURCE, CHECKPOINT)
    assert run.connectors == ("MirrorSourceConnector", "MirrorCheckpointConnector")
    assert run.settings.features[CHECKPOINTS] is not None
    heartbeats = run.settings.features[HEARTBEATS]
    assert heartbeats is not None
    assert heartbeats.interval is None, "none are emitted; those of the source are mirrored"
    assert run.settings.features[CONNECT_OFFSETS] is None
    assert run.settings.connect_names is not None
    assert run.settings.connect_names.worker == "", "a standalone worker is in no group"
    assert run.settings.target.connection.bootstrap_servers == ("b:1",)


def test_a_source_connector_alone_has_no_checkpoints(tmp_path: Path) -> None:
    features = flow(tmp_path, SOURCE).settings.features
    assert features[CHECKPOINTS] is None
    assert features[OFFSET_SYNCS] is not None


def test_transforms_of_a_connector(tmp_path: Path) -> None:
    """A worker's own header converter writes text; the transforms of other connectors are not the records'."""
    lines = "transforms=i\ntransforms.i.type=InsertHeader\ntransforms.i.header=h\ntransforms.i.value.literal=DC1\n"
    handler = flow(tmp_path, f"{SOURCE}{lines}").settings.handler
    assert handler is not None
    assert "DC1" in handler.steps[0]
    assert flow(tmp_path, SOURCE, f"{CHECKPOINT}{lines}").settings.handler is None


@pytest.mark.parametrize(
    ("line", "worker", "said"),
    [
        ("consumer.max.poll.records=5 # x", "", "{folder}/0.properties: consumer.max.poll.records = 5 # x: "),
        ("producer.override.linger.ms=x", "", "{folder}/0.properties: producer.override.linger.ms = x: "),
        ("", "producer.linger.ms=x\n", "the worker's producer.linger.ms = x: "),
        ("", "offset.flush.interval.ms=x\n", "the worker's offset.flush.interval.ms = x: "),
    ],
)
def test_a_connector_that_cannot_run_leaves_the_others(line: str, worker: str, said: str, tmp_path: Path) -> None:
    """What the worker's file says is said to all: no flow is left."""
    (tmp_path / "w").write_text(f"{WORKER}{worker}")
    texts = (f"{SOURCE}{line}\n", SOURCE.replace("=A\n", "=C\n"))
    paths = [tmp_path / f"{number}.properties" for number in range(2)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    files = load(ConnectLine(str(tmp_path / "w"), tuple(map(str, paths)), ()))
    clients, whole = ClientTranslation(Environment(), OwnOptions()), said.format(folder=tmp_path)
    if worker:
        with pytest.raises(ConfigurationError) as caught:
            translate_flows(files.flows(), clients)
        assert str(caught.value).startswith(whole)
        return
    made = translate_flows(files.flows(), clients)
    assert [str(each.pair) for each in made.flows] == ["C->B"]
    assert [str(each.pair) for each in made.refused] == ["A->B"]
    assert str(made.refused[0].error).startswith(whole)


def test_the_sink_connector_of_kip_382(tmp_path: Path) -> None:
    assert flow(tmp_path, SOURCE.replace("MirrorSource", "MirrorSink")).settings.streams == 1


def test_a_distributed_worker_has_a_topic_to_resume_from(tmp_path: Path) -> None:
    worker = "bootstrap.servers=b:1\ngroup.id=c\noffset.storage.topic=connect-offsets\n"
    settings = flow(tmp_path, SOURCE, worker=worker).settings
    stored, names = settings.features[CONNECT_OFFSETS], settings.connect_names
    assert stored is not None
    assert names is not None
    assert (names.worker, names.admin_of_worker) == ("connect-A->B", "c-shared-admin")
    assert (stored.topic, stored.connector, stored.workers.group_id) == ("connect-offsets", "s", "c")


def test_the_flows_of_a_worker_share_its_group(tmp_path: Path) -> None:
    """A driver's flow has a group of its own."""
    worker = "bootstrap.servers=b:1\ngroup.id=c\noffset.storage.topic=connect-offsets\n"
    file = DriverFile(dict(line.split("=", 1) for line in DRIVER.splitlines()))
    of_driver = translate_flow(FlowReading.of_driver(file, Pair("A", "B")), CLIENTS, 0)
    found = [each.settings.features[CONNECT_OFFSETS] for each in (flow(tmp_path, SOURCE, worker=worker), of_driver)]
    assert [each is not None and each.shares_group for each in found] == [True, False]


def test_a_distributed_worker_needs_a_group(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match='Missing required configuration "group.id" which has no default'):
        flow(tmp_path, SOURCE, worker="bootstrap.servers=b:1\noffset.storage.topic=connect-offsets\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("connector.class=org.example.Sink\n", "is not a connector of MirrorMaker 2"),
        ("name=x\n", "is not a connector of MirrorMaker 2"),
    ],
)
def test_another_connector(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "x.properties").write_text(text)
    with pytest.raises(ConfigurationError, match=why):
        load_connector(str(tmp_path / "x.properties"), {})


@pytest.mark.parametrize(
    ("text", "why"), [("{", "is not JSON"), ("[]", "has no configuration"), ('{"config": 1}', "has no configuration")]
)
def test_a_broken_body(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ConfigurationError, match=why):
        load_connector(str(tmp_path / "x.json"), {})


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load_connector(str(tmp_path / "x.json"), {})
    with pytest.raises(ConfigurationError, match="NoSuchFileException"):
        load_worker(str(tmp_path / "w"))


def test_what_the_worker_s_provider_gave_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_INTERVAL", "of-the-provider")
    provider = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"
    (tmp_path / "w").write_text(
        f"{WORKER}\nconfig.providers=env\nconfig.providers.env.class={provider}\n"
        "offset.flush.interval.ms=${env:MIRROR_INTERVAL}\n"
    )
    hidden: set[str] = set()
    load(ConnectLine(str(tmp_path / "w"), (), ()), hidden.update)
    assert hidden == {"of-the-provider"}


ENV = "org.apache.kafka.common.config.provider.EnvVarConfigProvider"


def test_a_worker_s_list_of_providers_is_trimmed_and_a_connector_s_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRROR_TOPICS", "orders")
    asked = SOURCE.replace("topics=t", "topics=${env:MIRROR_TOPICS}")
    providers = f"config.providers=file, env,\nconfig.providers.env.class={ENV}\n"
    (tmp_path / "w").write_text(f"{WORKER}{providers}")
    (tmp_path / "plain").write_text(WORKER)
    (tmp_path / "s").write_text(asked)
    (tmp_path / "own").write_text(f"{asked}{providers}")
    found = [
        load(ConnectLine(str(tmp_path / worker), (str(tmp_path / connector),), ()))
        for worker, connector in (("w", "s"), ("plain", "own"), ("w", "own"))
    ]
    assert [files.connectors[0].properties["topics"] for files in found] == [
        "orders",
        "${env:MIRROR_TOPICS}",
        "orders",
    ]
    assert [files.kept for files in found] == [
        (),
        (
            f"{tmp_path / 'own'}: topics holds ${{env:...}}, which stays as it is written: blanks in config.providers "
            "are parts of the names, so leave them out",
        ),
        (),
    ]


def test_a_worker_file_of_an_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_TOPICS", "orders")
    worker = (
        f"{WORKER}config.providers=strimzienv,strimzisecrets\n"
        "config.providers.strimzienv.class=io.strimzi.kafka.EnvVarConfigProvider\n"
        "config.providers.strimzisecrets.class=io.strimzi.kafka.KubernetesSecretConfigProvider\n"
    )
    made = flow(tmp_path, SOURCE.replace("topics=t", "topics=${strimzienv:MIRROR_TOPICS}"), worker=worker)
    assert made.settings.features.topics is not None
    assert made.settings.features.topics.include == ("orders",)
    with pytest.raises(ConfigurationError, match=r"topics refers to Kubernetes by .*: give legacy-mm connect --secr"):
        flow(tmp_path, SOURCE.replace("topics=t", "topics=${strimzisecrets:ns/x:y}"), worker=worker)


def test_what_a_provider_gave_is_hidden_before_a_class_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRROR_CLASS", "of.the.provider")
    (tmp_path / "w").write_text(f"{WORKER}config.providers=env\nconfig.providers.env.class={ENV}\n")
    (tmp_path / "s").write_text("name=s\nconnector.class=${env:MIRROR_CLASS}\n")
    hidden: set[str] = set()
    with pytest.raises(ConfigurationError, match=r"connector\.class=of\.the\.provider is not a connector"):
        load(ConnectLine(str(tmp_path / "w"), (str(tmp_path / "s"),), ()), hidden.update)
    assert hidden == {"of.the.provider"}


def test_two_connectors_of_one_kind_in_a_flow() -> None:
    first, second = (ConnectorFile(path, "source", {"source.cluster.alias": "A"}) for path in ("x", "y"))
    with pytest.raises(ConfigurationError, match="x and y are both a MirrorSourceConnector of one flow"):
        flows_of({}, [first, second])


def test_checkpoints_without_their_source_connector(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="needs the MirrorSourceConnector of its flow"):
        flow(tmp_path, CHECKPOINT)
