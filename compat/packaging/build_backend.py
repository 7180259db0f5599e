"""The build backend: setuptools, and the kernels compiled by Cython.

The C compiler is the host's; where there is none, that of the package `ziglang`, which is downloaded for this build
only. A wheel of a checkout also holds its commit, for `legacy-mm --version`. Rule: whatever fails here, the
installation goes on, and the kernels run uncompiled.
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
_ZIG = "ziglang>=0.13"
_OPTIONS = ["-O3", "-g0"]
_ERRORS_ONLY = 2

prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return setuptools' own requirements, and a C compiler where the host has none."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *([] if _host_compiler() else [_ZIG])]


get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build a wheel with the compiled kernels and the commit."""
    with _kernels(cmdclass={"build_py": _BuildWithCommit}):
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


def _host_compiler() -> bool:
    return bool(os.environ.get("CC")) or any(map(shutil.which, ("cc", "gcc", "clang")))


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
    kernels.optional = True  # `cythonize` forgets it
    return [kernels]


def _none(error: Exception) -> list[Extension]:
    print(f"The kernels are not compiled, and will be slow: {error}", file=sys.stderr)
    return []


@contextmanager
def _compiler() -> Iterator[None]:
    """Let setuptools use the compiler of the package `ziglang` where the host has none."""
    zig = {}
    if not _host_compiler():
        with suppress(ImportError):
            import ziglang  # noqa: F401

            command = f"{shlex.quote(sys.executable)} -m ziglang cc"
            zig = {"CC": command, "LDSHARED": f"{command} -shared"}
    with mock.patch.dict(os.environ, zig):
        yield
