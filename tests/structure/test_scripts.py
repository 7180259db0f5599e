"""The start scripts, with a stand-in for Python that prints what it was given."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.structure.source_tree import CHECKOUT
from tests.structure.stand_in import PROGRAM, TO_PYTHON, make_checkout, run, words_given, write_program

CLASS = "kafka.tools.MirrorMaker"
TO_THE_TOOL = [*TO_PYTHON, CLASS]
AWKWARD = ["--whitelist", "a b.*", "", "*", "$HOME", "-x", "-name", "kafka.Kafka"]
NAMES = ["kafka-mirror-maker.sh", "kafka-mirror-maker", "kafka-run-class.sh", "kafka-run-class"]
SHELLS = [(), ("sh",), ("dash",), ("bash", "-x"), ("busybox", "ash", "-C"), ("bash", "-C")]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """In a folder with a blank."""
    return make_checkout(tmp_path / "a checkout")


def command(checkout: Path, name: str) -> list[str | Path]:
    """The script of that name, asked for the mirror maker."""
    return [checkout / "bin" / name, *([CLASS] if "run-class" in name else [])]


@pytest.mark.parametrize("shell", SHELLS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_words_arrive_unchanged_from_any_shell(
    checkout: Path, tmp_path: Path, name: str, shell: tuple[str, ...]
) -> None:
    if shell and not shutil.which(shell[0]):
        pytest.skip(f"no {shell[0]} here")
    done = run(*shell, *command(checkout, name), *AWKWARD, cwd=tmp_path)
    assert words_given(done.stdout) == [*TO_THE_TOOL, *AWKWARD]
    assert f"folder {tmp_path}" in done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_chain_of_symlinks_on_the_path_finds_the_checkout(checkout: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "first").symlink_to(checkout / "bin" / name)
    (tmp_path / name).symlink_to("first")
    words = [name, *command(checkout, name)[1:], "x"]
    done = run(*words, environment={"PATH": f"{tmp_path}:{os.environ['PATH']}", "CDPATH": "/tmp"})
    assert words_given(done.stdout) == [*TO_THE_TOOL, "x"]


def test_a_renamed_copy_beside_it_works(checkout: Path) -> None:
    copy = shutil.copy(checkout / "bin" / "kafka-mirror-maker.sh", checkout / "bin" / "mirror-to-berlin.sh")
    assert words_given(run(copy, "x").stdout) == [*TO_THE_TOOL, "x"]


def test_a_line_put_in_at_16_is_run_before_the_tool(checkout: Path) -> None:
    script = checkout / "bin" / "kafka-mirror-maker.sh"
    lines = script.read_text().splitlines(keepends=True)
    script.write_text("".join([*lines[:15], "echo patched\n", *lines[15:]]))
    assert run(script, "x").stdout.startswith("patched\npid ")
    assert any(line.startswith("exec ") for line in lines[15:])


def test_a_read_only_installation_is_not_touched(checkout: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in checkout.rglob("*")}
    assert run(checkout / "bin" / "kafka-mirror-maker.sh", "x").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*")} == before


@pytest.mark.parametrize("name", NAMES)
def test_the_process_keeps_the_pid_of_the_script(checkout: Path, name: str) -> None:
    started = subprocess.Popen(command(checkout, name), stdout=subprocess.PIPE, text=True)
    printed, _ = started.communicate(timeout=30)
    assert f"pid {started.pid}\n" in printed


def test_a_missing_venv_is_made_with_nothing_on_stdout(checkout: Path) -> None:
    (checkout / ".venv" / "libexec" / "java").unlink()
    (checkout / "bin" / "setup").write_text("#!/bin/sh\necho from setup\nexit 1\n")
    done = run(checkout / "bin" / "kafka-mirror-maker.sh", "--help")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "from setup\n")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The script as pip lays it out, still without a Python."""
    bin_folder = tmp_path / "prefix" / "bin"
    bin_folder.mkdir(parents=True)
    for name in NAMES:
        shutil.copy(CHECKOUT / "bin" / name, bin_folder)
    return bin_folder / "kafka-mirror-maker.sh"


def test_installed_by_pip_it_takes_the_python_beside_it(installed: Path) -> None:
    missing = run(installed)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr.count("\n") == 1
    write_program(installed.parent / "python")
    # -X java says nothing to Python, and `ps | grep java` finds it
    assert words_given(run(installed, "x").stdout) == ["-P", "-X", "java", "-m", "legacy_mm", CLASS, "x"]


def test_installed_elsewhere_it_takes_the_python_of_its_sister_command(installed: Path, tmp_path: Path) -> None:
    python = write_program(tmp_path / "python3.99")
    write_program(installed.parent / "legacy-mm", f"#!{python}\nimport sys\n")
    assert words_given(run(installed, "x").stdout)[-2:] == [CLASS, "x"]


def test_another_python_in_that_folder_does_not_count(installed: Path, tmp_path: Path) -> None:
    """Nor does the shell with which pip begins a command of a long path."""
    write_program(installed.parent / "python3", "#!/bin/sh\necho No module named legacy_mm\n")
    write_program(installed.parent / "legacy-mm", f"#!{write_program(tmp_path / 'python3')}\nimport sys\n")
    assert words_given(run(installed, "x").stdout)[-2:] == [CLASS, "x"]
    write_program(installed.parent / "legacy-mm", "#!/bin/sh\n")
    assert run(installed, "x").stdout == "No module named legacy_mm\n"


@pytest.mark.parametrize("name", [*NAMES, "legacy-mm"])
def test_what_a_spark_host_says_to_python_does_not_reach_ours(checkout: Path, name: str) -> None:
    """Without its asserts, kafka-python misreads what brokers answer."""
    names = ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONWARNINGS", "PYTHONOPTIMIZE"]
    given = dict.fromkeys(names, "/opt/spark-2.4/python")
    for python in ("libexec/java", "bin/python"):
        write_program(checkout / ".venv" / python, "#!/bin/sh\nenv\n")
    said = run(*command(checkout, name), environment=given).stdout
    assert "PATH=" in said
    assert "/opt/spark-2.4" not in said


def test_an_environment_that_cannot_be_made_is_one_line(checkout: Path) -> None:
    (checkout / ".venv" / ".setup-lock").mkdir()
    done = run("sh", checkout / "bin" / "setup")
    assert (done.returncode, done.stderr) == (1, f"bin/setup: cannot write to {checkout / '.venv'}\n")


def test_our_command_makes_an_environment_that_was_interrupted(checkout: Path) -> None:
    """Its Python comes first and its link to Java last."""
    (checkout / ".venv" / "libexec" / "java").unlink()
    write_program(checkout / ".venv" / "bin" / "python")
    (checkout / "bin" / "setup").write_text("#!/bin/sh\necho from setup\nexit 1\n")
    done = run(checkout / "bin" / "legacy-mm", "quirks")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "from setup\n")


def test_in_a_virtual_environment_it_makes_itself_a_java(installed: Path) -> None:
    (installed.parents[1] / "pyvenv.cfg").touch()
    write_program(installed.parent / "python", PROGRAM.replace("folder $(pwd)", "named ${0##*/}"))
    for _ in range(2):
        done = run(installed, "x")
        assert "named java\n" in done.stdout
        assert words_given(done.stdout) == [*TO_THE_TOOL, "x"]


def test_java_options_before_the_class_stay_before_it(checkout: Path) -> None:
    """Difference: bare-java."""
    words = ["-cp", "/opt/kafka/libs/*", "-Xmx1g", "-Da=b c", "--add-opens", "x/y=z", CLASS, "--include", "t"]
    done = run(checkout / "bin" / "kafka-run-class.sh", "-name", "mm", *words)
    assert words_given(done.stdout) == [*TO_PYTHON, *words]


KAFKA = '#!/bin/sh\necho "Kafka in ${0%/*}"\nfor word; do echo "<$word>"; done\n'
BROKER = ["-name", "kafkaServer", "-loggc", "kafka.Kafka", "server properties", "--override", "a=*"]


@pytest.mark.parametrize(
    ("file", "variables"),
    [
        ("home/bin/kafka-run-class.sh", {"LEGACY_MM_KAFKA_HOME": "{}/home", "KAFKA_HOME": "{}/other"}),
        ("home/bin/kafka-run-class", {"KAFKA_HOME": "{}/home"}),
        ("kafka/bin/kafka-run-class.sh.orig", {"KAFKA_HOME": "{}/kafka"}),
        ("kafka/bin/kafka-run-class.sh.orig", {}),
        ("on the path/kafka-run-class.sh", {"PATH": "{}/kafka/bin:{}/on the path:" + os.environ["PATH"]}),
    ],
    ids=["home", "home without .sh", "home is where we are", "kept beside", "on the PATH"],
)
@pytest.mark.parametrize("words", [BROKER, ["-daemon", *BROKER], ["-Da=b", "kafka.Kafka"]], ids=lambda words: words[0])
def test_another_class_goes_to_the_kafka_we_stand_before(
    checkout: Path, tmp_path: Path, file: str, variables: dict[str, str], words: list[str]
) -> None:
    """A broker's start script calls the script beside it, which is a link to ours."""
    found = write_program(tmp_path / file, KAFKA)
    linked = tmp_path / "kafka" / "bin" / "kafka-run-class.sh"
    linked.parent.mkdir(parents=True, exist_ok=True)
    linked.symlink_to(checkout / "bin" / "kafka-run-class.sh")
    environment = {name: text.replace("{}", str(tmp_path)) for name, text in variables.items()}
    done = run(linked, *words, environment=environment)
    assert done.stdout.splitlines()[0] == f"Kafka in {found.parent}"
    assert words_given(done.stdout) == words


@pytest.mark.parametrize("words", [["kafka.Kafka"], ["-name"], ["-daemon"], ["-name", "x"], ["-cp"]])
def test_a_class_of_no_kafka_is_refused_in_one_line(checkout: Path, words: list[str]) -> None:
    path = {"PATH": f"{checkout}/bin:/usr/bin:/bin"}
    done = run(checkout / "bin" / "kafka-run-class.sh", *words, environment=path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "LEGACY_MM_KAFKA_HOME" in done.stderr


def test_run_class_without_words_prints_its_usage(checkout: Path) -> None:
    script = checkout / "bin" / "kafka-run-class.sh"
    usage = f"USAGE: {script} [-daemon] [-name servicename] [-loggc] classname [opts]\n"
    done = run(script)
    assert (done.returncode, done.stdout, done.stderr) == (1, usage, "")


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, "{}/logs"),
        ({"KAFKA_HOME": "/kafka"}, "/kafka/logs"),
        ({"KAFKA_HOME": "/kafka", "LEGACY_MM_KAFKA_HOME": "/old"}, "/old/logs"),
        ({"KAFKA_HOME": "/kafka", "LOG_DIR": "/var/log/x"}, "/var/log/x"),
    ],
    ids=["ours", "home", "ours before home", "named"],
)
def test_the_log_folder_is_that_of_the_kafka_and_python_knows_it(
    checkout: Path, variables: dict[str, str], folder: str
) -> None:
    named = [f"{name}={text}" for name, text in variables.items()]
    done = run("env", "-u", "LOG_DIR", *named, checkout / "bin" / "kafka-run-class.sh", CLASS)
    assert f"\nlogs {folder.format(checkout)}\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "variables", "options"),
    [
        ([], {"GC_LOG_ENABLED": "true"}, "-Xlog:gc*:file=/l/-gc.log:time,tags:filecount=10,filesize=100M"),
        (
            ["-name", "mm"],
            {"GC_LOG_ENABLED": "true", "KAFKA_GC_LOG_OPTS": "-Dgc"},
            "-Xlog:gc*:file=/l/mm-gc.log:time,tags:filecount=10,filesize=100M",
        ),
        (["-loggc"], {"GC_LOG_ENABLED": "false", "KAFKA_GC_LOG_OPTS": "-Dgc"}, "-Dgc"),
        ([], {"GC_LOG_ENABLED": "false"}, ""),
    ],
)
def test_the_garbage_collection_log_by_variable(
    checkout: Path, words: list[str], variables: dict[str, str], options: str
) -> None:
    done = run(checkout / "bin" / "kafka-run-class.sh", *words, CLASS, environment={"LOG_DIR": "/l", **variables})
    assert f"\ngc {options}\n" in done.stdout


def test_daemon_writes_its_file_only_into_a_folder_that_is_there(checkout: Path) -> None:
    script = checkout / "bin" / "kafka-run-class.sh"
    words = (script, "-daemon", "-name", "mm", CLASS, "x")
    logs = checkout / "logs"
    done = run(*words)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{script}: {logs}/mm.out: No such file or directory\n"
    assert not logs.exists()
    for environment in ({"KAFKA_LOG4J_OPTS": "-Dx"}, {}):  # only that variable makes the folder
        # returns when the daemon, which holds no pipe of ours, is on its way
        done = run(*words, environment=environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert_appears(logs / "mm.out", "<x>")
        (logs / "mm.out").write_text("of an earlier run")


def test_a_daemon_goes_on_at_the_beginning_of_a_file_that_was_emptied(checkout: Path) -> None:
    """As `samples/deploy/logrotate.conf` does it: without zeros in front, which make it a binary file."""
    program = 'echo begun; until [ -e "$LOG_DIR/go" ]; do sleep 0.05; done; echo later'
    write_program(checkout / ".venv" / "libexec" / "java", f"#!/bin/sh\n{program}\n")
    console = checkout / "logs" / "mm.out"
    console.parent.mkdir()
    run(checkout / "bin" / "kafka-run-class.sh", "-daemon", "-name", "mm", CLASS)
    assert_appears(console, "begun")
    os.truncate(console, 0)
    (console.parent / "go").touch()
    assert_appears(console, "later")
    assert console.read_bytes() == b"later\n"


def assert_appears(path: Path, text: str) -> None:
    watch = 'until grep -q "$1" "$2" 2>/dev/null; do sleep 0.05; done'
    subprocess.run(["sh", "-c", watch, "watch", text, path], timeout=30, check=True)
