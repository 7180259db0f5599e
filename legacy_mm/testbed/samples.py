"""Finds the files shipped beside the package. Rule: a checkout comes first, then what pip has installed."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from legacy_mm.errors import HostError

CHECKOUT = Path(__file__).resolve().parents[2]


def samples_folder() -> Path:
    """Return the folder `samples` of the checkout, or `share/legacy_mm/samples` of the installation."""
    return _shipped("samples/demo/topics.toml", "share/legacy_mm/samples/demo/topics.toml").parents[1]


def command_folder() -> Path:
    """Return the folder that holds `kafka-mirror-maker.sh`: the checkout's `bin`, or the installation's."""
    return _shipped("bin/kafka-mirror-maker.sh", "kafka-mirror-maker.sh").parent


def _shipped(in_checkout: str, installed: str) -> Path:
    # setup.cfg: a folder called samples or bin beside site-packages need not be ours.
    if (CHECKOUT / "setup.cfg").is_file() and (CHECKOUT / in_checkout).is_file():
        return CHECKOUT / in_checkout
    for file in _installed_files():
        if file.match(installed) and (path := Path(str(file.locate())).resolve()).is_file():
            return path
    raise HostError(f"{in_checkout} is neither in {CHECKOUT} nor installed: install legacy-mm again")


def _installed_files() -> list[metadata.PackagePath]:
    try:
        return metadata.files("legacy-mm") or []
    except metadata.PackageNotFoundError:
        return []
