"""The properties of the JVM that files may refer to."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from legacy_mm.words.java_clients.system_properties import system_properties


def test_of_two_options_the_later_one_counts_and_others_are_none() -> None:
    found = system_properties(["-Da=1", "-Xmx1g", "-Da=2=3", "-Dempty", "-D=x"])
    assert (found["a"], found["empty"]) == ("2=3", "")
    assert "-Xmx1g" not in found


def test_an_option_stands_over_what_java_finds_itself() -> None:
    assert system_properties(["-Duser.home=/elsewhere"])["user.home"] == "/elsewhere"
    assert system_properties([])["user.home"] == pwd.getpwuid(os.getuid()).pw_dir


def test_a_user_that_no_database_knows_has_the_home_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setenv("HOME", "/home/of-a-container")
    found = system_properties([])
    assert (found["user.name"], found["user.home"]) == ("?", "/home/of-a-container")


def test_a_folder_that_was_removed_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert system_properties([])["user.dir"] == "?"
