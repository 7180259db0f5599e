"""`legacy-mm install` and `uninstall` on `bin` folders as Kafka 2.8, 3.9, 4 and packages of vendors have them.

Kafka's scripts are stand-ins of the same build: each calls the `kafka-run-class` in its own folder, and that one prints
what it is and what it was given. Ours is a checkout whose Python is a stand-in.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.words.legacy_tool import start_scripts
from legacy_mm.words.legacy_tool.start_scripts import KEPT
from tests.structure.stand_in import TO_PYTHON, make_checkout, run, words_given, write_program

CLASS = "kafka.tools.MirrorMaker"
BROKER = ["-name", "kafkaServer", "-loggc", "kafka.Kafka"]
RUN_CLASS = '#!/bin/sh\n# Kafka {release}\necho "Kafka {release}, base $(dirname $0)/.."\nfor w; do echo "<$w>"; done\n'
CALL = '#!/bin/sh\n# Kafka {release}\nexec $(dirname $0)/kafka-run-class{end} {words} "$@"\n'
TOPICS = {"2.8": "kafka.admin.TopicCommand", "3.9": "org.apache.kafka.tools.TopicCommand"}
RELEASES = ["2.8", "3.9", "4.1"]
State = dict[str, tuple[str, int]]


def unpack(home: Path, release: str, end: str = ".sh") -> Path:
    """The scripts of a release, over whatever is there, as `tar` does it."""
    files = {
        "kafka-run-class": RUN_CLASS.format(release=release),
        "kafka-server-start": CALL.format(release=release, end=end, words=" ".join(BROKER)),
        "kafka-topics": CALL.format(release=release, end=end, words=TOPICS.get(release, TOPICS["3.9"])),
        "connect-mirror-maker": CALL.format(
            release=release, end=end, words="org.apache.kafka.connect.mirror.MirrorMaker"
        ),
    }
    if not release.startswith("4"):
        files["kafka-mirror-maker"] = CALL.format(release=release, end=end, words=CLASS)
    for name, text in files.items():
        (home / "bin" / f"{name}{end}").unlink(missing_ok=True)
        write_program(home / "bin" / f"{name}{end}", text)
    (home / "libs").mkdir(exist_ok=True)
    return home


def state(home: Path) -> State:
    """What lies in its `bin`: text and mode."""
    return {path.name: (path.read_text(), path.stat().st_mode) for path in (home / "bin").iterdir()}


def replaced(home: Path) -> set[str]:
    """Kafka's own of the scripts that are replaced."""
    texts = {text for name, (text, _) in state(home).items() if name in ("kafka-run-class.sh", "kafka-mirror-maker.sh")}
    return {text for text in texts if text.startswith("#!/bin/sh\n# Kafka ")}


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """Our scripts, in a folder with a blank and a quote."""
    return make_checkout(tmp_path / "it's ours") / "bin"


@pytest.fixture
def install(ours: Path) -> Callable[..., list[str]]:
    """Install into a Kafka; what is said."""
    return lambda home, run_class=False: list(start_scripts.install(home, ours, run_class=run_class))


@pytest.mark.parametrize("run_class", [False, True], ids=["mirror maker", "run class too"])
@pytest.mark.parametrize("end", [".sh", ""], ids=["Apache", "vendor"])
@pytest.mark.parametrize("release", RELEASES)
def test_there_and_back(
    tmp_path: Path, install: Callable[..., list[str]], release: str, end: str, run_class: bool
) -> None:
    """Each twice; ours is called, every other script goes on as before, and at the end all is as it was."""
    home = unpack(tmp_path / "kafka", release, end)
    mirror, broker = home / "bin" / f"kafka-mirror-maker{end}", home / "bin" / f"kafka-server-start{end}"
    before, runs = state(home), run(broker, "a b").stdout
    first = install(home, run_class=run_class)
    after = state(home)
    assert [line for line in install(home, run_class=run_class) if not line.endswith("is ours already")] == []
    assert state(home) == after
    assert [line.split(":")[0] for line in first] == [
        str(mirror),
        *([str(home / "bin" / f"kafka-run-class{end}")] if run_class else []),
    ]
    assert (f"kafka-mirror-maker{end}{KEPT}" in after) == (release != "4.1") == ("kept" in first[0])

    done = run(mirror, "--whitelist", "a b")
    assert words_given(done.stdout) == [*TO_PYTHON, CLASS, "--whitelist", "a b"]
    assert run(broker, "a b").stdout == runs
    assert words_given(run(home / "bin" / f"kafka-topics{end}", "--list").stdout)[-1] == "--list"
    by_class = run(home / "bin" / f"kafka-run-class{end}", "-name", "mm", CLASS, "x")
    assert words_given(by_class.stdout) == ([*TO_PYTHON, CLASS, "x"] if run_class else ["-name", "mm", CLASS, "x"])

    said = list(start_scripts.uninstall(home))
    assert len(said) == len(first)
    assert state(home) == before
    assert list(start_scripts.uninstall(home)) == []
    assert state(home) == before


def test_brokers_start_when_our_installation_is_gone(
    tmp_path: Path, install: Callable[..., list[str]], ours: Path
) -> None:
    home = unpack(tmp_path / "kafka", "3.9")
    runs = run(home / "bin" / "kafka-server-start.sh", "x").stdout
    install(home, run_class=True)
    shutil.rmtree(ours.parent)
    done = run(home / "bin" / "kafka-server-start.sh", "x")
    assert (done.returncode, done.stdout, done.stderr) == (0, runs, "")
    list(start_scripts.uninstall(home))
    assert words_given(run(home / "bin" / "kafka-mirror-maker.sh", "x").stdout) == [CLASS, "x"]


def test_a_word_that_only_looks_like_the_class_goes_back_to_kafka(
    tmp_path: Path, install: Callable[..., list[str]]
) -> None:
    home = unpack(tmp_path / "kafka", "3.9")
    install(home, run_class=True)
    words = ["org.apache.kafka.tools.TopicCommand", "--topic", CLASS]
    assert words_given(run(home / "bin" / "kafka-run-class.sh", *words).stdout) == words


def test_copies_links_and_patches_of_ours_work(tmp_path: Path, install: Callable[..., list[str]]) -> None:
    home = unpack(tmp_path / "kafka", "4.1")
    install(home)
    script = home / "bin" / "kafka-mirror-maker.sh"
    copy = shutil.copy(script, home / "bin" / "mirror-to-berlin.sh")
    (tmp_path / "kafka-mirror-maker").symlink_to(script)
    lines = script.read_text().splitlines(keepends=True)
    script.write_text("".join([*lines[:15], "echo home=$LEGACY_MM_KAFKA_HOME\n", *lines[15:]]))
    for path in (copy, tmp_path / "kafka-mirror-maker"):
        assert words_given(run(path, "x").stdout) == [*TO_PYTHON, CLASS, "x"]
    assert run(script, environment={"LEGACY_MM_KAFKA_HOME": "/k"}).stdout.startswith("home=/k\npid ")


@pytest.mark.parametrize("jars", ["libs", "share/java/kafka"])
def test_the_jars_of_the_kafka_are_found_from_ours(
    tmp_path: Path, install: Callable[..., list[str]], ours: Path, jars: str
) -> None:
    """Installed, or a link by hand; Confluent's packages have no libs."""
    home = tmp_path / "usr"
    for name in ("kafka-run-class", "kafka-mirror-maker"):
        write_program(home / "bin" / name)
    (home / jars).mkdir(parents=True)
    install(home)
    (home / "bin" / "linked").symlink_to(ours / "kafka-mirror-maker.sh")
    for script in ("kafka-mirror-maker", "linked"):
        assert f"\nlogs {home}/logs\n" in run("env", "-u", "LOG_DIR", home / "bin" / script).stdout


@pytest.mark.parametrize("upgraded", ["3.9", "4.1"])
def test_an_upgrade_of_kafka_in_between_loses_no_original(
    tmp_path: Path, install: Callable[..., list[str]], upgraded: str
) -> None:
    """The newer release is unpacked over the older one, then installed again, then taken back."""
    home = unpack(tmp_path / "kafka", "2.8")
    originals = replaced(home)
    install(home, run_class=True)
    unpack(home, upgraded)
    originals |= replaced(home)
    said = install(home, run_class=True)
    assert f"{home}/bin/kafka-run-class.sh{KEPT}.1: the original of an earlier install" in "\n".join(said)
    assert f"Kafka {upgraded}" in run(home / "bin" / "kafka-server-start.sh").stdout
    assert len(originals) == (4 if upgraded == "3.9" else 3)
    assert originals <= {text for text, _ in state(home).values()}
    list(start_scripts.uninstall(home))
    assert originals <= {text for text, _ in state(home).values()}
    assert f"Kafka {upgraded}" in (home / "bin" / "kafka-run-class.sh").read_text()
    newest = upgraded if upgraded == "3.9" else "2.8"  # Kafka 4 has none of its own, so the older one is back
    assert f"Kafka {newest}" in (home / "bin" / "kafka-mirror-maker.sh").read_text()


def test_uninstall_after_an_upgrade_leaves_the_newer_script(tmp_path: Path, install: Callable[..., list[str]]) -> None:
    home = unpack(tmp_path / "kafka", "2.8")
    install(home)
    unpack(home, "3.9")
    before = state(home)
    assert "Kafka was upgraded since" in "\n".join(start_scripts.uninstall(home))
    assert state(home) == before


def test_a_break_between_two_steps_is_made_good(tmp_path: Path, install: Callable[..., list[str]]) -> None:
    """The original has its second name already, or only that one."""
    home = unpack(tmp_path / "kafka", "3.9")
    before = state(home)
    script = home / "bin" / "kafka-mirror-maker.sh"
    os.link(script, script.with_name(script.name + KEPT))
    install(home)
    script.unlink()
    install(home)
    assert run(script).returncode == 0
    list(start_scripts.uninstall(home))
    assert state(home) == before


def test_an_original_that_is_a_link_stays_one(tmp_path: Path, install: Callable[..., list[str]]) -> None:
    home = unpack(tmp_path / "kafka", "3.9")
    script = home / "bin" / "kafka-mirror-maker.sh"
    script.rename(tmp_path / "elsewhere.sh")
    script.symlink_to(tmp_path / "elsewhere.sh")
    install(home)
    assert not script.is_symlink()
    assert "LEGACY_MM" not in (tmp_path / "elsewhere.sh").read_text(), "nothing is written through the link"
    list(start_scripts.uninstall(home))
    assert script.readlink() == tmp_path / "elsewhere.sh"


def test_our_own_folder_is_refused(install: Callable[..., list[str]], ours: Path) -> None:
    before = state(ours.parent)
    with pytest.raises(HostError, match="where legacy_mm itself is"):
        install(ours.parent, run_class=True)
    assert state(ours.parent) == before


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write everywhere, so it is somebody else for a while."""
    own = os.getresuid()
    if own[0] == 0:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(*own)


@pytest.fixture
def locked() -> Iterator[Path]:
    """A Kafka whose `bin` nobody but root can write to; pytest's own folders are private to a user."""
    with tempfile.TemporaryDirectory(prefix="legacy_mm-test-") as name:
        home = unpack(Path(name), "3.9")
        home.chmod(0o755)
        (home / "bin").chmod(0o555)
        yield home
        (home / "bin").chmod(0o755)


def test_a_folder_that_cannot_be_written_to_is_said_in_one_line(locked: Path, ours: Path) -> None:
    before = state(locked)
    for steps in (start_scripts.install(locked, ours, run_class=True), start_scripts.uninstall(locked)):
        with (
            unprivileged(),
            pytest.raises(HostError, match=f"^cannot write to {locked}/bin: run it as the user who owns it$"),
        ):
            list(steps)
    assert state(locked) == before


def test_a_lost_original_that_brokers_need_is_said(tmp_path: Path, install: Callable[..., list[str]]) -> None:
    home = unpack(tmp_path / "kafka", "3.9")
    install(home, run_class=True)
    (home / "bin" / f"kafka-run-class.sh{KEPT}").unlink()
    with pytest.raises(HostError, match="put Kafka's own script there"):
        list(start_scripts.uninstall(home))


def test_the_driver_of_mirror_maker_2_is_ours_only_where_it_was_asked_for(tmp_path: Path, ours: Path) -> None:
    home = unpack(tmp_path / "kafka", "3.9")
    driver, before = home / "bin" / "connect-mirror-maker.sh", state(home)
    list(start_scripts.install(home, ours, run_class=True))
    assert words_given(run(driver, "f").stdout) == ["org.apache.kafka.connect.mirror.MirrorMaker", "f"]
    said = list(start_scripts.install(home, ours, run_class=False, driver=True))
    assert [line for line in said if "connect-mirror-maker" in line and "kept" in line]
    script = "-Dkafka.script=connect-mirror-maker.sh"
    assert words_given(run(driver, "f", "--clusters", "A").stdout) == [
        *TO_PYTHON, script, "org.apache.kafka.connect.mirror.MirrorMaker", "f", "--clusters", "A"
    ]  # fmt: skip
    list(start_scripts.uninstall(home))
    assert state(home) == before
