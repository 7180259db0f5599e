"""What pip installs: the wheel made from the sdist, in an empty environment, by the steps of the sample Dockerfile."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import OLD
from legacy_mm import __version__
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.environments import LEFT_OUT, call

pytestmark = [pytest.mark.brokers, pytest.mark.spark, pytest.mark.slow]
COPIED = 90.0
X86_64, AARCH64 = 62, 183
"""Processors, as the header of a compiled file names them."""
HANDLER = """
from legacy_mm.handlers.api import Record, TargetRecord

def handle(record: Record) -> list[TargetRecord]:
    return [record.to("copy." + record.topic)]
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with sdist and wheel; `build` makes the wheel from what the sdist holds."""
    folder = tmp_path_factory.mktemp("build")
    shutil.copytree(CHECKOUT, folder / "src", ignore=LEFT_OUT, symlinks=True)
    call(sys.executable, "-m", "venv", "venv", folder=folder)
    call(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "build", folder=folder)
    call(folder / "venv/bin/python", "-m", "build", "--outdir", folder / "dist", "src", folder=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment that the RUN lines of the Dockerfile make, with the wheel for the checkout."""
    prefix = tmp_path_factory.mktemp("installed") / "legacy_mm"
    (wheel,) = built.glob("*.whl")
    steps = re.findall(r"^RUN (.+)$", (CHECKOUT / "samples/deploy/Dockerfile").read_text(), re.MULTILINE)
    assert len(steps) == 4
    for step in steps:
        line = step.replace("/opt/legacy_mm", str(prefix)).replace("/src", str(wheel)).replace("--no-cache-dir", "-q")
        call("sh", "-c", re.sub(r"^python ", f"{sys.executable} ", line), folder=prefix.parent)
    return prefix


def test_both_hold_all_that_the_running_tool_needs(built: Path, installed: Path) -> None:
    """Modules, samples and scripts; and nothing of the tests."""
    (sdist,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
    package = {
        str(path.relative_to(CHECKOUT))
        for path in (CHECKOUT / "legacy_mm").rglob("*.*")
        if path.suffix in (".py", ".java", ".html", ".css", ".js")
    }
    samples = {path for path in (CHECKOUT / "samples").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    assert {"java", "jdk", "kerberos", "test", "dev"} <= set(
        re.findall(r"^Provides-Extra: (.+)$", metadata, re.MULTILINE)
    )
    (kernels,) = (name for name in names if name.endswith(".so"))
    assert package | {"legacy_mm/py.typed", kernels} == {name for name in names if name.startswith("legacy_mm/")}
    with tarfile.open(sdist) as archive:
        there = {name.partition("/")[2] for name in archive.getnames()}
    assert package <= there
    assert not [name for name in names | there if name.startswith("tests/")]
    for path in samples:
        copy = installed / "share/legacy_mm" / path.relative_to(CHECKOUT)
        assert copy.read_bytes() == path.read_bytes()
    assert len(list((installed / "share/legacy_mm").glob("spark-classes-*.jsa"))) == 1
    assert (installed / "libexec/java").is_symlink()


@pytest.mark.parametrize(
    ("compiler", "compiled"), [("ziglang", True), ("fails", False)], ids=["without a compiler", "with a broken one"]
)
def test_the_kernels_are_compiled_with_what_there_is(
    built: Path, tmp_path: Path, compiler: str, compiled: bool
) -> None:
    """A host without a compiler gets that of `ziglang` for the build; a compiler that fails ends no installation."""
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("env", "ls", "rm", "sh", "tar", "uname"):
        (path / name).symlink_to(str(shutil.which(name)))
    broken = {"CC": "/bin/false"} if compiler == "fails" else {}
    environment = {"PATH": str(path), "HOME": str(tmp_path), **broken}
    (sdist,) = built.glob("*.tar.gz")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist")
    call(*pip, sdist, folder=tmp_path, environment={**os.environ, **environment})
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert any(name.endswith(".so") for name in archive.namelist()) == compiled
        archive.extractall(tmp_path / "unpacked")
    code = "from legacy_mm.protocol.kernels import WHY_UNCOMPILED; print(WHY_UNCOMPILED)"
    said = call(
        *(sys.executable, "-P", "-c", code),
        folder=tmp_path,
        environment={**os.environ, "PYTHONPATH": str(tmp_path / "unpacked")},
    )
    assert said.strip() == ("" if compiled else "the installation had no C compiler that works")


@pytest.fixture(scope="module")
def zig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkout, `src`, and an environment that can make a wheel of it for any platform, `venv`."""
    folder = tmp_path_factory.mktemp("zig")
    shutil.copytree(CHECKOUT, folder / "src", ignore=LEFT_OUT, symlinks=True)
    call(sys.executable, "-m", "venv", "venv", folder=folder)
    wanted = ("build", "cython>=3.1", "setuptools>=77", "ziglang")
    call(folder / "venv/bin/python", "-m", "pip", "install", "--quiet", *wanted, folder=folder)
    return folder


@pytest.mark.parametrize(
    ("platform", "processor", "kind"),
    [
        ("manylinux_2_17_x86_64", X86_64, "x86_64-linux-gnu"),
        ("manylinux_2_17_aarch64", AARCH64, "aarch64-linux-gnu"),
        ("musllinux_1_2_x86_64", X86_64, "x86_64-linux-musl"),
        ("musllinux_1_2_aarch64", AARCH64, "aarch64-linux-musl"),
    ],
)
def test_a_release_makes_the_wheels_of_all_platforms(
    zig: Path, tmp_path: Path, platform: str, processor: int, kind: str
) -> None:
    """One after another from the same checkout: its own kernels alone, and no wish for a newer glibc."""
    build = (zig / "venv/bin/python", "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, zig / "src")
    call(*build, folder=zig, environment={**os.environ, "LEGACY_MM_PLATFORM": platform})
    (wheel,) = tmp_path.glob("*.whl")
    python = f"{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.endswith(f"-cp{python}-cp{python}-{platform}.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".so"))
        compiled = archive.read(name)
    assert name == f"legacy_mm/protocol/record_kernels.cpython-{python}-{kind}.so"
    assert int.from_bytes(compiled[18:20], "little") == processor
    wanted = {int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", compiled)}
    assert max(wanted) <= 17 if kind.endswith("gnu") else not wanted


def test_a_release_makes_no_wheel_without_the_kernels(zig: Path, tmp_path: Path) -> None:
    (tmp_path / "ziglang.py").write_text("raise SystemExit('a compiler that fails')")
    done = subprocess.run(
        [zig / "venv/bin/python", "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, zig / "src"],
        env={**os.environ, "LEGACY_MM_PLATFORM": "musllinux_1_2_x86_64", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "a compiler that fails" in done.stdout + done.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_what_ziglang_compiles_runs_on_older_processors(zig: Path) -> None:
    """By itself it uses all that the host's processor can; a wheel may be carried to another."""
    code = (
        "import os, shlex, subprocess, build_backend\n"
        "with build_backend._compiler():\n"
        "    words = [*shlex.split(os.environ['CC']), '-dM', '-E', '-x', 'c', '/dev/null']\n"
        "    subprocess.run(words, check=True)"
    )
    alone = {"PATH": "", "HOME": str(zig), "PYTHONPATH": str(zig / "src/compat/packaging")}
    macros = call(zig / "venv/bin/python", "-c", code, folder=zig, environment=alone)
    assert "__clang__" in macros
    assert "__AVX__" not in macros


def test_flags_of_the_environment_change_no_answer(zig: Path, tmp_path: Path) -> None:
    """`CFLAGS` takes the place of the flags that Python was built with; the kernels count on one of them."""
    build = (zig / "venv/bin/python", "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, zig / "src")
    platform = {"LEGACY_MM_PLATFORM": f"manylinux_2_17_{os.uname().machine}", "CFLAGS": "-O2"}
    call(*build, folder=zig, environment={**os.environ, **platform})
    for name in ("legacy_mm", "compat", "tests"):
        shutil.copytree(CHECKOUT / name, tmp_path / "src" / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(CHECKOUT / "setup.cfg", tmp_path / "src")
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "src")
    tests = ("--confcutdir", "tests/unit", "tests/unit/protocol/test_kernels.py", "-k", "two_modules or hostile")
    said = call(
        *(sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", *tests),
        folder=tmp_path / "src",
        environment={**os.environ, "PYTHONPATH": "", "LEGACY_MM_FUZZ_SECONDS": "1"},
    )
    assert "4 passed" in said


def test_a_wheel_of_a_checkout_holds_its_commit(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT, tmp_path / "src", ignore=LEFT_OUT, symlinks=True)
    git = ("git", "-C", tmp_path / "src", "-c", "user.name=a", "-c", "user.email=a@b")
    call(*git, "init", "--quiet", folder=tmp_path)
    call(*git, "commit", "--quiet", "--allow-empty", "--message", "first", folder=tmp_path)
    call(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", "./src", folder=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        recorded = archive.read("legacy_mm/commit.txt").decode()
    assert recorded == call(*git, "rev-parse", "--short=12", "HEAD", folder=tmp_path)


def test_its_commands_answer(installed: Path, tmp_path: Path) -> None:
    alone = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    ours = installed / "bin/legacy-mm"
    assert call(ours, "--version", folder=tmp_path, environment=alone) == f"legacy_mm {__version__} (commit unknown)\n"
    assert "--metrics.port" in call(ours, "options", folder=tmp_path, environment=alone)
    assert call(installed / "bin/kafka-mirror-maker", "--version", folder=tmp_path, environment=alone).startswith("3.9")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", ["Python", "Java"])
def test_handlers_run_with_nothing_to_download_from(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    handler_jars: dict[str, Path],
    installed: Path,
    tmp_path: Path,
    language: str,
) -> None:
    """By the script that `legacy-mm install` puts into a Kafka whose `libs` hold the handler's jar, in an empty home.

    A cache folder that cannot be made would be noticed by whatever wants to fetch something.
    """
    name, home, kafka = topic(), tmp_path / "home", tmp_path / "kafka"
    script = tmp_path / "handler.py"
    script.write_text(HANDLER)
    home.mkdir()
    (tmp_path / "file").touch()
    (kafka / "bin").mkdir(parents=True)
    (kafka / "bin/kafka-run-class.sh").touch()
    (kafka / "libs").mkdir()
    for jar in (*kafka_jars(OLD).glob("*.jar"), handler_jars["Rename"]):
        (kafka / "libs" / jar.name).symlink_to(jar)
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "PYTHONPATH": "",
        "LEGACY_MM_CACHE": str(tmp_path / "file/cache"),
    }
    call(installed / "bin/legacy-mm", "install", "--kafka-home", kafka, folder=tmp_path, environment=environment)
    for cluster, called in ((source, name), (target, f"copy.{name}")):
        create_topic(cluster.bootstrap, called, partitions=2)
    load(source.bootstrap, name, 200, 50)
    words = {"Python": (str(script),), "Java": ("handlers.Rename", "--message.handler.args", "copy.")}[language]
    tool = our_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
        *("--whitelist", name, "--message.handler", *words),
        launcher=kafka / "bin/kafka-mirror-maker.sh",
        environment=environment,
    )

    def copied() -> bool:
        return not tool.running() or sum(end_offsets(target.bootstrap, f"copy.{name}").values()) == 200

    wait_until(copied, COPIED, "all records under their new name")
    assert str(installed) in Path(f"/proc/{tool.pid}/maps").read_text()
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143, tool.output()
    assert list(home.iterdir()) == []
