"""A limit on tasks is found wherever it stands, and told before anything starts."""

from __future__ import annotations

import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.heartbeats.flags import HeartbeatSettings
from legacy_mm.flow import task_limit
from legacy_mm.handlers.transforms import Predicate, Transform, written
from tests.unit.flow_settings import at_master, flow_settings


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host without limits: root's processes in no control group."""
    monkeypatch.setattr(task_limit, "PROC", tmp_path / "proc")
    monkeypatch.setattr(task_limit, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(os, "getuid", lambda: 0)
    (tmp_path / "proc/self").mkdir(parents=True)
    return tmp_path


def in_cgroup(host: Path, line: str, folder: str, most: str, current: int = 10) -> None:
    (host / "proc/self/cgroup").write_text(f"12:cpu:/a\n{line}\n")
    made = host / "cgroup" / folder
    made.mkdir(parents=True)
    (made / "pids.max").write_text(f"{most}\n")
    (made / "pids.current").write_text(f"{current}\n")


def check_task_limit(streams: int) -> None:
    task_limit.check_task_limit([replace(flow_settings(), streams=streams)])


def refusal(streams: int) -> str:
    with pytest.raises(ConfigurationError) as refused:
        check_task_limit(streams)
    return str(refused.value)


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("8:pids:/pod/container", "pids/pod/container"),
        ("8:pids:/pod/container", "pids/pod"),
        ("8:pids:/docker/of-the-host", "pids"),
        ("0::/pod/container", "pod/container"),
        ("0::/pod/container", "pod"),
        ("0::/", ""),
    ],
    ids=[
        "v1",
        "v1, the group around it",
        "v1, in a container",
        "v2",
        "v2, the group around it",
        "v2, own root",
    ],
)
def test_the_limit_of_a_container(host: Path, line: str, folder: str) -> None:
    if folder.endswith("pod"):
        (host / "cgroup" / folder / "container").mkdir(parents=True)
        (host / "cgroup" / folder).joinpath("container/pids.max").write_text("max\n")
        (host / "cgroup" / folder / "pids.max").write_text("105\n")
        (host / "cgroup" / folder / "pids.current").write_text("10\n")
        (host / "proc/self/cgroup").write_text(f"{line}\n")
    else:
        in_cgroup(host, line, folder, "105")
    check_task_limit(3)
    assert refusal(4) == (
        "4 streams need about 98 processes and threads, and pids.max of this container (105) leaves 95: raise it by "
        "3, or ask for fewer --num.streams"
    )


def test_one_stream_cannot_be_fewer(host: Path) -> None:
    in_cgroup(host, "8:pids:/a", "pids/a", "64")
    assert refusal(1).endswith("leaves 54: raise it by 26")


def test_where_nothing_is_limited_any_number_may_start(host: Path) -> None:
    check_task_limit(1_000)
    in_cgroup(host, "0::/a", "a", "max")
    check_task_limit(1_000)
    (host / "cgroup/a/pids.max").write_text("6000\n")
    assert "1000 streams need about 6074" in refusal(1_000)


def test_features_have_clients_of_their_own(host: Path) -> None:
    in_cgroup(host, "0::/a", "a", "95")
    settings = flow_settings()
    features = settings.features.having(HEARTBEATS, HeartbeatSettings(1.0, -1))
    task_limit.check_task_limit([settings])
    with pytest.raises(ConfigurationError, match="1 stream need about 88 processes and threads"):
        task_limit.check_task_limit([replace(settings, features=features)])


@pytest.mark.parametrize(
    ("name", "needed"), [("org.example.Handler", 80 + 6 * 39 + 10 * 2), ("handlers:Handler", 80 + 14 * 40 - 6)]
)
def test_a_handler_needs_a_jvm_for_each_core_or_a_process_for_each_stream(
    host: Path, monkeypatch: pytest.MonkeyPatch, name: str, needed: int
) -> None:
    monkeypatch.setattr(task_limit, "usable_cores", lambda: 2)
    in_cgroup(host, "0::/a", "a", "300")
    settings = replace(flow_settings(), streams=40, handler=HandlerSettings(name))
    with pytest.raises(ConfigurationError, match=f"40 streams need about {needed} processes and threads"):
        task_limit.check_task_limit([settings])


ROUTES = Transform("r", "RegexRouter", {"regex": "a", "replacement": "b"})
WITH_HEARTBEATS = {"features": flow_settings().features.having(HEARTBEATS, HeartbeatSettings(1.0, -1))}


@pytest.mark.parametrize(
    ("steps", "more", "needed"),
    [
        (["rename.prefix=x", "filter.topic=x", "rename.map=x->y", "keep.partition"], {}, 80 + 6 * 39),
        ([written(ROUTES)], {}, 80 + 6 * 39),
        (["rename.prefix=x", "provenance=source"], {}, 80 + 14 * 40 - 6),
        ([written(replace(ROUTES, predicate=Predicate("p", "RecordIsTombstone", {})))], {}, 80 + 14 * 40 - 6),
        (["rename.prefix=x"], WITH_HEARTBEATS, 80 + 14 * 40 - 6 + 8),
    ],
    ids=["names", "a router", "records", "a predicate", "names beside a duty"],
)
def test_steps_that_look_at_records_need_a_process_for_each_stream(
    host: Path, steps: list[str], more: dict[str, Any], needed: int
) -> None:
    in_cgroup(host, "0::/a", "a", "300")
    settings = replace(flow_settings(), streams=40, handler=HandlerSettings(steps=steps), **more)
    with pytest.raises(ConfigurationError, match=f"40 streams need about {needed} processes and threads"):
        task_limit.check_task_limit([settings])


def test_the_limit_of_the_user_counts_all_his_tasks(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (134, 134))
    for pid, (uid, threads) in enumerate([(1000, 40), (1000, 5), (0, 900)]):
        (host / "proc" / str(pid)).mkdir()
        (host / "proc" / str(pid) / "status").write_text(f"Name:\tx\nUid:\t{uid}\t0\t0\t0\nThreads:\t{threads}\n")
    check_task_limit(2)
    assert "the limit of this user (ulimit -u: 134) leaves 89" in refusal(3)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    check_task_limit(1_000)


def test_what_runs_already_is_part_of_the_need(host: Path) -> None:
    in_cgroup(host, "0::/a", "a", "80", current=3)
    (host / "proc/self/status").write_text("Name:\tjava\nThreads:\t3\n")
    check_task_limit(1)
    (host / "cgroup/a/pids.current").write_text("4\n")
    assert refusal(1).endswith("leaves 76: raise it by 4")


def test_on_a_cluster_the_tasks_are_elsewhere(host: Path) -> None:
    in_cgroup(host, "0::/a", "a", "50")
    task_limit.check_task_limit([at_master(flow_settings(), "spark://a:1")])
    assert refusal(1)
