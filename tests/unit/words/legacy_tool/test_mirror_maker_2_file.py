"""Files of MirrorMaker 2, by their signs. What the command says of them: test_misspelt.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.legacy_tool.mirror_maker_2_file import about, named_in

CONNECTOR = "connector.class=org.apache.kafka.connect.mirror.MirrorSourceConnector\n"


def told(text: str, folder: Path) -> str:
    (folder / "f").write_text(text)
    return about("f", properties_file.load_entries(str(folder / "f")))


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("clusters=A, B\n", "f is a file of MirrorMaker 2 (line 1: clusters)"),
        ("x=1\nA->B.enabled=true\n", "f is a file of MirrorMaker 2 (line 2: A->B.enabled)"),
        ("west.bootstrap.servers=h:1\n", "f is a file of MirrorMaker 2 (line 1: west.bootstrap.servers)"),
        (CONNECTOR, "f is a connector of MirrorMaker 2 (line 1: connector.class)"),
        ("kind: KafkaMirrorMaker2\n", "f is a resource of Strimzi for MirrorMaker 2 (line 1: kind)"),
    ],
)
def test_the_first_sign_is_named_with_its_line(text: str, sign: str, tmp_path: Path) -> None:
    assert told(text, tmp_path).startswith(f"{sign}: this command copies from one source to one target")


@pytest.mark.parametrize(
    "text",
    [
        "bootstrap.servers=h:1\n",
        "admin.bootstrap.servers=h:1\n",
        "connector.class=org.apache.kafka.connect.file.FileStreamSourceConnector\n",
        "kind: KafkaConnect\n",
    ],
)
def test_others_are_not_taken_for_one(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == ""


def test_a_file_that_several_words_name_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "mm2"
    path.write_text("clusters=A, B\n")
    found = list(named_in([f"--consumer.config={path}", "--producer.config", str(path), "--x=gone", str(tmp_path)]))
    assert [text.partition(" is ")[0] for text in found] == [str(path)]
