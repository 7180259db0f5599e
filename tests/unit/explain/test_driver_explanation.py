"""`legacy-mm explain -- connect-mirror-maker.sh FILE`: one document, the driver's exit code, no secret."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.errors import ConfigurationError, EndlessCopy, HostError, StreamFailure
from legacy_mm.cli import explain
from legacy_mm.cli.legacy_mm import main
from legacy_mm.explain import source_inspection
from legacy_mm.explain.source_inspection import PartitionStart, TopicCopy, Topics
from legacy_mm.runtime.jvm import gateway

AB = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\nA->B.enabled = true\n"
SECRET = "s3cret-word"  # noqa: S105 - made up


def explained(folder: Path, text: str, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    file = folder / "mm2.properties"
    file.write_text(text)
    code = main(["explain", "--offline", "--json", "--", "/opt/kafka/bin/connect-mirror-maker.sh", str(file), *words])
    return code, json.loads(capsys.readouterr().out)


def test_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = explained(tmp_path, f"{AB}topics = a.*, b\nproducer.acks = 1\n", capsys)
    flow, back = document["flows"]
    assert (code, document["exit_code"], document["outcome"]) == (0, 0, "It would run.")
    assert (flow["source"], flow["target"], flow["copies"]) == ("A", "B", True)
    assert flow["topics"] == {"include": ["a.*", "b"], "exclude": "default"}
    assert flow["policy"] == {"class": "DefaultReplicationPolicy", "t_becomes": "A.t"}
    assert flow["features"]["refresh_topics"] == 600
    assert (flow["group"], flow["group_at"]) == ("A-mm2", "B")
    assert document["ignored"] == flow["ignored"] == {"producer.acks": "B.producer.acks"}
    assert {right["cluster"] for right in flow["rights"]} == {"A", "B"}
    assert (back["copies"], back["features"], back["topics"]) == (False, {"heartbeats": True}, {})


def test_the_document_has_the_keys_that_are_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, document = explained(tmp_path, AB, capsys)
    promised = str(explain.__doc__)
    assert all(f"`{key}`" in promised for key in document)
    assert (document["format"], document["of"]) == (1, "driver")
    listed = re.search(r"`flows`: ([^`]*)\n- ", promised)
    assert listed is not None
    words = set(re.findall(r"\w+", listed[1]))
    assert document["flows"][0].keys() <= words


def test_what_the_host_could_not_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(_: str | None) -> Path:
        raise HostError("no Java")

    monkeypatch.setattr(gateway, "find_java", none)
    code, document = explained(tmp_path, f"{AB}A->B.topics = [a-z]\n", capsys)
    assert (code, document["outcome"]) == (0, "It would run.")
    assert document["unknown"] == ["A->B: the topic pattern .*: no Java"]
    assert main(["explain", "--offline", "--", "connect-mirror-maker.sh", str(tmp_path / "mm2.properties")]) == 0
    assert "\nNot known\n  A->B: the topic pattern .*: no Java\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("", "group_offsets False no group is moved at the target: sync.group.offsets.enabled=true does"),
        ("sync.group.offsets.enabled = true\n", "group_offsets True heartbeats True"),
    ],
)
def test_groups_that_stay_where_they_are(
    lines: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mm2.properties"
    file.write_text(f"{AB}{lines}")
    assert main(["explain", "--offline", "--", "connect-mirror-maker.sh", str(file)]) == 0
    assert told in " ".join(capsys.readouterr().out.split())


def test_a_source_connector_alone_translates_no_offsets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "worker.properties").write_text("bootstrap.servers = h:1\n")
    (tmp_path / "source.properties").write_text(
        "name = s\nconnector.class = org.apache.kafka.connect.mirror.MirrorSourceConnector\n"
        "source.cluster.alias = A\ntarget.cluster.alias = B\n"
        "source.cluster.bootstrap.servers = h:1\ntarget.cluster.bootstrap.servers = h:2\n"
    )
    words = [str(tmp_path / f"{name}.properties") for name in ("worker", "source")]
    assert main(["explain", "--offline", "--", "connect-standalone.sh", *words]) == 0
    assert "absent  no group's offsets are translated: a MirrorCheckpointConnector does\n" in capsys.readouterr().out


NO_STORE = "A.security.protocol = SSL\nA.ssl.truststore.location = /nowhere\n"
BACKSLASHES = (
    "A.security.protocol = SASL_SSL\nA.sasl.mechanism = PLAIN\n"
    'A.sasl.jaas.config = Plain required username=\\\\"u\\\\" password=\\\\"p\\\\";\n'
)
"""Quotes with backslashes before them."""


@pytest.mark.usefixtures("one_java")
@pytest.mark.parametrize(
    ("lines", "refused", "theirs"),
    [
        (f"{NO_STORE}", "Failed to load SSL keystore /nowhere", 2),
        (f"{NO_STORE}emit.heartbeats.enabled = false\n", "Failed to load SSL keystore /nowhere", 0),
        (f"{BACKSLASHES}", "a backslash stands outside of quotes", 2),
        (f"{BACKSLASHES}emit.heartbeats.enabled = false\n", "a backslash stands outside of quotes", 0),
        ("A->B.replication.policy.class = no_such:Policy\n", "no_such", 0),
        ("A->B.exactly.once = true\nB.producer.acks = 1\n", "needs acks=all", 0),
    ],
)
def test_what_the_start_refuses(
    lines: str, refused: str, theirs: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On this host, before a cluster is asked. MirrorMaker 2's driver ends (4.3.0, seen) where a cluster with broken
    clients is the target of a flow, be it for heartbeats.
    """
    code, document = explained(tmp_path, f"{AB}{lines}", capsys)
    assert (code, document["driver_exit_code"], document["runs_here"]) == (2, theirs, False)
    assert document["outcome"].startswith("It would end: " if theirs else "MirrorMaker 2 would stay up; ")
    assert refused in document["flows"][0]["refused"][0]


@pytest.mark.parametrize(
    ("text", "words", "outcome"),
    [
        ("a = b\n", (), 'no "clusters"'),
        (AB, ("--clusters", "b"), "No source->target replication flows"),
        (f"{AB}status.storage.partitions = x\n", (), "Not a number of type INT"),
    ],
)
def test_a_driver_that_ends_with_2(
    text: str, words: tuple[str, ...], outcome: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = explained(tmp_path, text, capsys, *words)
    assert (code, document["exit_code"], document["driver_exit_code"]) == (2, 2, 2)
    assert outcome in document["outcome"]


def test_a_class_that_only_java_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = explained(tmp_path, f"{AB}replication.policy.class = com.acme.Policy\n", capsys)
    assert (code, document["exit_code"], document["driver_exit_code"], document["runs_here"]) == (2, 2, 0, False)
    assert document["flows"][0]["policy"]["t_becomes"] == "unsure: decided by the user's Java class"
    assert "com.acme.Policy" in document["flows"][0]["refused"][0]


@pytest.mark.usefixtures("one_java")
@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("A->B.consumer.max.poll.records = 5 # x", "Not a number of type INT; in such a file a comment needs a line"),
        ("B.offset.storage.partitions = x", "Not a number of type INT"),
        ("A->B.topics = a,[", "a, [ is no list of Java regular expressions"),
        ("A->B.groups = [", "[ is no list of Java regular expressions"),
    ],
)
def test_a_flow_that_would_not_run_beside_others(
    line: str, refused: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = explained(tmp_path, f"{AB}B->A.enabled = true\n{line}\n", capsys)
    assert (code, document["exit_code"], document["runs_here"]) == (0, 0, True)
    assert document["outcome"] == "It would run without A->B: see what is refused"
    flow, back = document["flows"]
    assert flow["refused"][-1].startswith(f"legacy_mm: {line}: ")
    assert refused in flow["refused"][-1]
    assert (back["refused"], bool(back["clients"])) == ([], True)


GUARD = """A->B.transforms = f, i
A->B.transforms.f.type = org.apache.kafka.connect.transforms.Filter
A->B.transforms.f.predicate = p
A->B.transforms.i.type = InsertHeader
A->B.transforms.i.header = x
A->B.transforms.i.value.literal = null
A->B.predicates = p
A->B.predicates.p.type = HasHeaderKey
A->B.predicates.p.name = x
"""


def test_transforms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, document = explained(tmp_path, f"{AB}{GUARD}", capsys)
    flow, back = document["flows"]
    shown = {"f": "Filter, if HasHeaderKey name=x", "i": "InsertHeader header=x value.literal=null"}
    assert (flow["transforms"], list(flow["transforms"]), back["transforms"]) == (shown, ["f", "i"], {})
    assert main(["explain", "--offline", "--", "connect-mirror-maker.sh", str(tmp_path / "mm2.properties")]) == 0
    printed = capsys.readouterr().out
    assert "A->B: transforms\n  f  Filter, if HasHeaderKey name=x\n" in printed
    assert "A->B: transforms act on copied records, and not on those of" in printed


def test_a_transform_that_only_java_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{AB}A->B.transforms = m\nA->B.transforms.m.type = com.acme.Mask\n"
    code, document = explained(tmp_path, text, capsys)
    assert (code, document["exit_code"], document["driver_exit_code"], document["runs_here"]) == (2, 2, 0, False)
    assert document["flows"][0]["transforms"] == {"m": "com.acme.Mask"}
    assert "legacy_mm: A->B.transforms.m.type=com.acme.Mask is not possible" in document["flows"][0]["refused"][0]


def test_words_that_the_driver_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--offline", "--", "connect-mirror-maker.sh"]) == 255
    assert "too few arguments" in capsys.readouterr().err


@pytest.mark.usefixtures("one_java")
def test_no_secret_in_text_or_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        f"{AB}A.security.protocol = SASL_SSL\nA.sasl.mechanism = PLAIN\nA.sasl.jaas.config = "
        "org.apache.kafka.common.security.plain.PlainLoginModule required username=u "
        f'password="{SECRET}";\n'
    )
    _, document = explained(tmp_path, text, capsys)
    assert main(["explain", "--offline", "--", "connect-mirror-maker.sh", str(tmp_path / "mm2.properties")]) == 0
    printed = capsys.readouterr().out
    assert SECRET not in json.dumps(document) + printed
    assert "A->B  .* but not the default list  topic t becomes A.t; group A-mm2 at B" in printed


LOCAL = AB.replace("= a:", "= 127.0.0.1:").replace("= b:", "= 127.0.0.1:")
ANSWERS = Topics(answered=True, copies=(TopicCopy("t", "A.t", 2),), partitions=(PartitionStart("t", 0, 7, "stored"),))


def asked(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answer: Any) -> Any:
    """The document and the text of a file whose clusters answer so."""
    inspection = Mock(side_effect=answer) if isinstance(answer, Exception) else Mock(return_value=answer)
    monkeypatch.setattr(source_inspection, "inspect", inspection)
    file = folder / "mm2.properties"
    file.write_text(LOCAL)
    words = ("--", "connect-mirror-maker.sh", str(file))
    code = main(["explain", "--json", *words])
    document = json.loads(capsys.readouterr().out)
    assert main(["explain", *words]) == code == document["exit_code"]
    assert inspection.call_count == 2, "the flow that only emits heartbeats asks nobody"
    return document, capsys.readouterr().out


def test_clusters_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document, text = asked(tmp_path, capsys, monkeypatch, replace(ANSWERS, attention="mind it"))
    found = document["flows"][0]["found"]
    assert (document["exit_code"], found["answered"]) == (0, True)
    assert found["copies"] == [{"topic": "t", "target": "A.t", "partitions": 2, "copy_partitions": None}]
    assert "A->B: Topics at the source\n  t  -> A.t  2 partitions\n" in text
    assert "A->B: Where copying would begin\n  t-0  from 7  stored\n" in text
    assert "Take care\n  A->B: mind it\n" in text


def test_a_cluster_that_is_away_takes_no_flow_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document, text = asked(tmp_path, capsys, monkeypatch, HostError("nobody answers"))
    assert (document["exit_code"], document["outcome"]) == (0, "It would run.")
    assert document["unknown"] == ["A->B: topics and positions: nobody answers"]
    assert "Not known\n  A->B: topics and positions: nobody answers\n" in text


@pytest.mark.parametrize(
    ("error", "code", "outcome"),
    [
        (ConfigurationError("one cluster"), 2, "legacy_mm would end with 2"),
        (EndlessCopy("it comes back"), 2, "legacy_mm would end with 2"),
        (StreamFailure("too long"), 0, "It would run, and try again and again to copy"),
    ],
)
def test_what_the_clusters_refuse(
    error: Exception,
    code: int,
    outcome: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As the driver: a flow that no later start could help does not run, any other one begins again and again."""
    document, text = asked(tmp_path, capsys, monkeypatch, error)
    assert document["exit_code"] == code
    assert outcome in document["outcome"]
    assert document["flows"][0]["refused"] == [f"legacy_mm: {error}"]
    assert f"Refused\n  A->B  legacy_mm: {error}\n" in text


def test_a_name_that_nobody_knows_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mm2.properties"
    file.write_text(AB.replace("a:9092", "no-such-host.invalid:9092"))
    assert main(["explain", "--json", "--", "connect-mirror-maker.sh", str(file)]) == 0
    (unknown,) = json.loads(capsys.readouterr().out)["unknown"]
    assert "No resolvable bootstrap urls given in bootstrap.servers (" in unknown


ENV = "config.providers = env\nconfig.providers.env.class = "
ENV += "org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"


def test_what_a_provider_gave_is_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In no value, no list and no refusal, of the driver's file and of Connect's."""
    monkeypatch.setenv("MIRROR_SECRET", SECRET)
    asked = "${env:MIRROR_SECRET}"
    for key in ("A->B.topics", "A->B.topic.filter.class", "A.bootstrap.servers", "A->B.enabled", "A->B.tasks.max"):
        _, document = explained(tmp_path, f"{AB}{ENV}{key} = {asked}\n", capsys)
        words = ("connect-mirror-maker.sh", str(tmp_path / "mm2.properties"))
        assert main(["explain", "--offline", "--", *words]) in (0, 2)
        assert SECRET not in json.dumps(document) + capsys.readouterr().out
    connect = ("connect-standalone.sh", str(tmp_path / "w"), str(tmp_path / "s"))
    (tmp_path / "w").write_text(f"bootstrap.servers = b:1\n{ENV}")
    source = (
        "name = s\nconnector.class = MirrorSourceConnector\nsource.cluster.alias = A\ntarget.cluster.alias = B\n"
        "source.cluster.bootstrap.servers = a:1\n"
    )
    for key in ("topics", "topic.filter.class", "source.cluster.bootstrap.servers", "connector.class", "tasks.max"):
        (tmp_path / "s").write_text(f"{source}{key} = {asked}\n")
        assert main(["explain", "--offline", "--", *connect]) in (0, 2)
        assert SECRET not in capsys.readouterr().out


@pytest.mark.parametrize(("more", "code"), [("", 0), ("topics = a\nreplication.policy.class = com.acme.Policy\n", 2)])
def test_files_of_connect_are_no_driver_s(
    more: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "w").write_text("bootstrap.servers = b:1\n")
    (tmp_path / "s").write_text(
        "name = s\nconnector.class = MirrorSourceConnector\nsource.cluster.alias = A\ntarget.cluster.alias = B\n"
        f"source.cluster.bootstrap.servers = a:1\ntopicz = x\n{more}"
    )
    words = ("connect-standalone.sh", str(tmp_path / "w"), str(tmp_path / "s"))
    assert main(["explain", "--offline", "--", *words]) == code
    printed = capsys.readouterr().out
    assert f"\nExit code of legacy-mm connect: {code}\n" in printed
    assert "Keys without effect, as with Kafka Connect" in printed
    assert "driver" not in printed


RESOURCE = """kind: KafkaMirrorMaker2
spec:
  version: 4.3.0
  target: {alias: B, bootstrapServers: "b:1"}
  mirrors:
  - source: {alias: A, bootstrapServers: "a:1", authentication: {type: scram-sha-512, username: u,
      passwordSecret: {secretName: login, password: password}}}
    sourceConnector: {config: {topicz: x}}
    topicsPattern: orders
"""


def test_a_resource_of_strimzi(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without its Secrets it is explained, too."""
    file = tmp_path / "mm2.yml"
    file.write_text(RESOURCE)
    (tmp_path / "login").mkdir()
    (tmp_path / "login" / "password").write_text(SECRET)
    alone = ("explain", "--offline", "--", str(file))
    line = ("explain", "--offline", "--", "legacy-mm", "connect", str(file))
    assert main(list(alone)) == main(list(line)) == 0
    first, second = capsys.readouterr().out.split("It would run.")[1:]
    assert first == second
    for words in ((), ("--secrets.dir", str(tmp_path))):
        assert main([*line, *words]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert "A->B orders but not the default list topic t becomes A.t; group mirrormaker2-cluster at B" in printed
        assert "Keys without effect, as with Kafka Connect topicz" in printed
        assert f"{file}: spec.version: for pods, and without effect here" in printed
        assert SECRET not in printed
        assert ("no --secrets.dir names" in printed) is (words == ())


def test_a_reference_that_nobody_looks_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, document = explained(tmp_path, f"{AB}{ENV}A.ssl.keystore.password = ${{env:NO_SUCH_NAME_HERE}}\n", capsys)
    said = "A.ssl.keystore.password holds ${env:...}, which stays as it is written: its provider has no value for it"
    assert said in document["warnings"]
    assert main(["explain", "--offline", "--", "connect-mirror-maker.sh", str(tmp_path / "mm2.properties")]) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_missing_file_is_said_in_words_of_ours_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "--offline", "--", "connect-mirror-maker.sh", "mm2.properties"]) == 2
    said = "java.nio.file.NoSuchFileException: mm2.properties\nmm2.properties: no such file in"
    assert capsys.readouterr().out.startswith(f"It would end: {said} {tmp_path}\n")
