"""`legacy-mm clusters`, `checkpoints` and `heartbeats` where no cluster is reached, and how times are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.audit.java_files import write_properties
from legacy_mm.base.errors import HostError
from legacy_mm.cli import mirror_topics
from legacy_mm.cli.legacy_mm import main
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.client import Heartbeat, MirrorClient


@pytest.mark.parametrize("command", [["clusters"], ["checkpoints", "--source", "a"], ["heartbeats"]])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "client.properties"),
        ("replication.policy.class=DefaultReplicationPolicy\n", "No resolvable bootstrap urls given"),
        (
            "bootstrap.servers=one:1\nreplication.policy.class=com.example.Policy\n",
            "com.example.Policy is not possible",
        ),
    ],
)
def test_what_is_refused(
    command: list[str], text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "client.properties"
    if text is not None:
        file.write_text(text)
    assert main([*command, "--config", str(file)]) == 1
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("legacy-mm: ") and said in err


def test_the_login_of_a_command_line_may_be_in_the_file_that_java_s_options_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="hush";'
    (tmp_path / "jaas.conf").write_text(f"KafkaClient {{ {login} }};")
    words = ["--include", "t"]
    for side in ("consumer", "producer"):
        sasl = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
        file = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **sasl}
        words += [f"--{side}.config", str(write_properties(tmp_path / side, file))]
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.auth.login.config={tmp_path}/jaas.conf")
    with MirrorClient(mirror_topics._of_line(MirrorLine(words))) as client:
        assert client.connection.sasl.username == "me"


def test_a_cluster_that_is_away_is_named_with_its_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_answer(_: MirrorClient) -> None:
        raise HostError("it does not answer")

    monkeypatch.setattr(MirrorClient, "heartbeat_topics", no_answer)
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=127.0.0.1:1, 127.0.0.1:2\n")
    assert main(["heartbeats", "--config", str(file)]) == 1
    assert capsys.readouterr().err == "legacy-mm: the cluster (127.0.0.1:1,127.0.0.1:2): it does not answer\n"


@pytest.mark.parametrize(
    ("timestamps", "shown"),
    [
        ([], "never"),
        ([1_700_000_000_000, 1_700_000_090_400, 5], "2023-11-14 22:14:50 UTC, 10 s ago"),
        ([9_223_372_036_854_775_807], "9223372036854775807 ms"),
    ],
)
def test_when_a_cluster_was_last_heard_of(timestamps: list[int], shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_topics, "wall", lambda: 1_700_000_100.4)
    assert mirror_topics._last([Heartbeat("a", "b", each) for each in timestamps]) == shown
