"""The file reader gives what `java.util.Properties` gives; where Java is on the machine, it is
asked.
"""

from __future__ import annotations

import base64
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.java_clients.properties_file import MalformedFile
from tests.fixtures.java_programs import java_command

ORACLE = Path(__file__).parent / "java" / "PropertiesOracle.java"
PIECES = [
    "a", "b", "=", ":", "#", "!", " ", "\t", "\x0c", "\r", "\n", "\\", "\r\n", "\\\n", "\\\r\n",
    "\\\\", "\\u0041", "\\u00e9", "\\uD83D\\uDE00", "\\uD83D", "\\uDE00", "\\u", "\\u12",
    "\\u+041", "\\u0x1", "\\u 123", "\\t", "\\n", "\\f", "\\r", "\\q", "\\=", "\\:", "\\ ", "\\#",
    "#:", "#: k=v", "key", "value", "\x85", "é", "\xa0", "\\\n   ", "\\\n#", "#c\\\n", "\x00",
    "\x1c", "\x0b", "\\U0041", "\\\\u0041",
]  # fmt: skip
EDGES = [
    "", "\\", "\\\n", "\\\n\n", "a\\\n", "a \\\n = b", "a\\\n=b", "a=b\\\n\nc=d", "\\\n#x=y",
    "=v", ":v", "k", "k=", "k =", "k : = v", "k==v", "k= v ", "k=v\t", "\x0ck\x0c=\x0cv",
    "#:=\nk=v", "# c\\\nk=v", "!c\nk=v", "k=1\nk=2", "a\\ b=c", "a\\:b:c", "k=\\u00", "k=\\uzzzz",
    "k=\\u0041", "k\\", "k=v\\", "k=v\\\\", "  \\\n  k=v", "k=a\\\r\n  b", "k=a\\\r  b",
    "k=\\uD83D\\uDE00", "k=\\uD83Dx", "\\u0023k=v", "\\\n", "\\\n  \nk=v", "\\\n\\\nk=v",
]  # fmt: skip


def ours(content: bytes) -> dict[str, str] | str:
    try:
        return properties_file.loads(content)
    except MalformedFile as error:
        return str(error)


def ask_java(contents: list[bytes]) -> list[dict[str, str] | str]:
    """What Java says of each file, in one run."""
    words = "\n".join(base64.b64encode(content).decode() for content in contents) + "\n"
    command = java_command(ORACLE.stem, ORACLE.read_text())
    done = subprocess.run(command, input=words, capture_output=True, text=True, check=True, timeout=120)
    return [_answer(line) for line in done.stdout.splitlines()]


def _answer(line: str) -> dict[str, str] | str:
    kind, *rest = line.split(" ")
    if kind == "error":
        return _text(rest[0])
    return {_text(key): _text(value) for key, value in (pair.split("=") for pair in rest)}


def _text(encoded: str) -> str:
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()


def generated_files() -> list[bytes]:
    files: list[bytes] = []

    @settings(
        max_examples=1500,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.sampled_from(PIECES), max_size=12))
    def collect(pieces: list[str]) -> None:
        files.append("".join(pieces).encode("iso-8859-1"))

    collect()
    dice = random.Random(7)
    for _ in range(1500):
        files.append("".join(dice.choices(PIECES, k=dice.randint(1, 14))).encode("iso-8859-1"))
    return files


@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java on the PATH")
def test_equals_java_util_properties() -> None:
    files = [edge.encode("iso-8859-1") for edge in EDGES] + generated_files()
    answers = ask_java(files)
    assert len(answers) == len(files)
    different = [
        (content, java, ours(content)) for content, java in zip(files, answers, strict=True) if ours(content) != java
    ]
    print(f"{len(files) - len(different)} of {len(files)} files equal")
    assert not different, different[:5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k=v  ", {"k": "v  "}),
        ("k : v", {"k": "v"}),
        ("group.id g\\\n   1", {"group.id": "g1"}),
        ("! c\n# d\nk", {"k": ""}),
        ("k=1\nk=2", {"k": "2"}),
        ("=v", {"": "v"}),
        ("a \\\n = b", {"a": "b"}),
        ("#: \\u\nk=v", {"k": "v"}),
        ("k=\xe9\\u00e9", {"k": "éé"}),
    ],
)
def test_reads_as_java(text: str, expected: dict[str, str]) -> None:
    assert properties_file.loads(text.encode("iso-8859-1")) == expected


@pytest.mark.parametrize("escape", ["\\u", "\\u12", "\\u+041", "\\uzzzz", "\\u1_23"])
def test_bad_unicode_escape(escape: str, tmp_path: Path) -> None:
    file = tmp_path / "c.properties"
    file.write_text(f"k={escape}\n")
    with pytest.raises(ConfigurationError, match=r"Malformed \\uxxxx encoding\."):
        properties_file.load(str(file))


def test_unusable_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError) as missing:
        properties_file.load("nope.properties")
    assert str(missing.value) == "java.nio.file.NoSuchFileException: nope.properties"
    for folder in (str(tmp_path), "", "."):
        with pytest.raises(ConfigurationError) as directory:
            properties_file.load(folder)
        assert str(directory.value) == "java.io.IOException: Is a directory"
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError) as behind_a_file:
        properties_file.load(f"{tmp_path}/file/x")
    assert str(behind_a_file.value) == f"java.nio.file.FileSystemException: {tmp_path}/file/x: Not a directory"

    def refuse(path: Path) -> bytes:
        raise PermissionError

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ConfigurationError) as unreadable:
        properties_file.load("secret.properties")
    assert str(unreadable.value) == "java.nio.file.AccessDeniedException: secret.properties"


def test_entries_know_their_line_and_the_ones_they_replace() -> None:
    content = b"# comment\r\n\na=1\nb=x\\\n  y\\\n  z\rc\n\na:2\n"
    assert properties_file.parse(content) == [(3, "a", "1"), (4, "b", "xyz"), (7, "c", ""), (9, "a", "2")]
    assert properties_file.loads(content) == {"a": "2", "b": "xyz", "c": ""}
