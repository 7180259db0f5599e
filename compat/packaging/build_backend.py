"""The build backend: setuptools, and the kernels compiled by Cython.

The C compiler is the host's; where there is none, that of the package `ziglang`, which is downloaded for this build
only. A wheel of a checkout also holds its commit, for `legacy-mm --version`. Rule: whatever fails here, the
installation goes on, and the kernels run uncompiled.

A release names the platform that its wheel is for in `LEGACY_MM_PLATFORM`. Then `ziglang` compiles, whatever the host
is (Linux of 64 bits), and what fails ends the build.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import setuptools
from setuptools import Extension, build_meta
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import manifest_maker

KERNELS, TYPES = "legacy_mm/protocol/record_kernels.py", "legacy_mm/protocol/record_kernels.pxd"
COMMIT = "legacy_mm/commit.txt"
"""Only in a wheel; `legacy_mm/cli/version.py` reads it."""
_GIT = ("git", "rev-parse", "--short=12", "HEAD")
_GIT_TIMEOUT = 10.0
_TARGETS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}
"""What `ziglang` calls each platform."""
_PLATFORM = os.environ.get("LEGACY_MM_PLATFORM")
_TARGET = _TARGETS[_PLATFORM] if _PLATFORM else ""
_ZIG = "ziglang>=0.13"
_OPTIONS = ["-O3", "-g0", "-fwrapv"]
"""The last is in Python's own flags, but `CFLAGS` takes their place; sums of hostile numbers differ without it."""
_ERRORS_ONLY = 2

prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return setuptools' own requirements, and a C compiler where the host has none."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *([_ZIG] if _by_zig() else [])]


get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build a wheel with the compiled kernels and the commit."""
    options = {"bdist_wheel": {"plat_name": _PLATFORM}} if _PLATFORM else {}
    with tempfile.TemporaryDirectory() as fresh:  # the checkout's own may hold the kernels of another platform
        options["build"] = {"build_base": fresh}
        with _kernels(cmdclass={"build_py": _BuildWithCommit}, options=options):
            return str(build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build an editable wheel, and the compiled kernels in the checkout, in the place of older ones."""
    for stale in Path(KERNELS).parent.glob("record_kernels.*.so"):
        stale.unlink()
    with _kernels():
        return str(build_meta.build_editable(wheel_directory, config_settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Build an archive of the sources, with what only the build needs: setuptools leaves that out."""
    add_defaults = manifest_maker.add_defaults

    def add_all(maker: manifest_maker) -> None:
        add_defaults(maker)
        maker.filelist.extend([str(Path(__file__).resolve().relative_to(Path.cwd())), TYPES])

    with mock.patch.object(manifest_maker, "add_defaults", add_all):
        return str(build_meta.build_sdist(sdist_directory, config_settings))


def _by_zig() -> bool:
    return bool(_TARGET) or not (os.environ.get("CC") or any(map(shutil.which, ("cc", "gcc", "clang"))))


class _BuildWithCommit(build_py):
    """Writes the commit of the checkout beside the modules that go into the wheel."""

    def run(self) -> None:
        super().run()
        if (Path.cwd() / ".git").exists():  # not the commit of a checkout that some other sources lie in
            with suppress(OSError, subprocess.SubprocessError):
                done = subprocess.run(_GIT, capture_output=True, text=True, timeout=_GIT_TIMEOUT, check=True)
                (Path(self.build_lib) / COMMIT).write_text(done.stdout, encoding="ascii")


@contextmanager
def _kernels(**more: Any) -> Iterator[None]:
    """Let setuptools build the kernels, and take `more` words of a setup, while the block runs."""
    with tempfile.TemporaryDirectory() as folder:
        setup = partial(setuptools.setup, ext_modules=_extensions(folder), **more)
        with mock.patch.object(setuptools, "setup", setup), _compiler():
            yield


def _extensions(folder: str) -> list[Extension]:
    """Translate the kernels to C, in this folder; none where that fails."""
    try:
        from Cython.Build import cythonize
        from Cython.Compiler import Errors
    except ImportError as error:
        return _none(error)
    Errors.LEVEL = _ERRORS_ONLY
    module = KERNELS.removesuffix(".py").replace("/", ".")
    try:
        (kernels,) = cythonize(
            [Extension(module, [KERNELS], extra_compile_args=_OPTIONS)], build_dir=folder, language_level=3, quiet=True
        )
    except Errors.CompileError as error:
        return _none(error)
    kernels.optional = not _TARGET  # here, because `cythonize` forgets it
    return [kernels]


def _none(error: Exception) -> list[Extension]:
    if _TARGET:
        raise error
    print(f"The kernels are not compiled, and will be slow: {error}", file=sys.stderr)
    return []


@contextmanager
def _compiler() -> Iterator[None]:
    """Let setuptools use the compiler of the package `ziglang` where it is to."""
    words = {}
    if _TARGET or (_by_zig() and find_spec("ziglang")):
        # without a word it compiles for the very processor of the host, and a wheel may be carried to another
        aim = f"-target {_TARGET}" if _TARGET else "-mcpu=baseline"
        command = f"{shlex.quote(sys.executable)} -m ziglang cc {aim}"
        words = {"CC": command, "LDSHARED": f"{command} -shared"}
    if _TARGET:
        triplet = _TARGET.removesuffix(".2.17")
        words["SETUPTOOLS_EXT_SUFFIX"] = f".{sys.implementation.cache_tag}{sys.abiflags}-{triplet}.so"
    with mock.patch.dict(os.environ, words):
        yield
