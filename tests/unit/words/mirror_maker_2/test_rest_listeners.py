"""`listeners` of a file opens the admin port, at this host alone, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.cli.legacy_mm import main
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.words.mirror_maker_2 import rest_listeners
from legacy_mm.words.options.option_catalogue import OwnOptions

FILE = """\
clusters = A, B
A.bootstrap.servers = 127.0.0.1:1
B.bootstrap.servers = 127.0.0.1:2
A->B.enabled = true
listeners = http://0.0.0.0:8084
dedicated.mode.enable.internal.rest = true
"""
SOURCE = """\
name = s
connector.class = MirrorSourceConnector
source.cluster.alias = A
target.cluster.alias = B
source.cluster.bootstrap.servers = 127.0.0.1:1
target.cluster.bootstrap.servers = 127.0.0.1:2
"""


@pytest.mark.parametrize(
    ("listeners", "port"),
    [
        ("", None),
        (" ", None),
        ("http://:8084", 8084),
        ("http://0.0.0.0:8084/", 8084),
        ("HTTP://[::1]:8084, http://:1", 8084),
        ("PLAINTEXT://:9092, http://:8084", 8084),
        ("http://:0, http://:8084", 8084),
        ("http://:99999", None),
        ("http://here", None),
        ("https://:8443", None),
        ("https://:8443, http://:8084", None),
    ],
)
def test_the_port_of_the_first_listener(listeners: str, port: int | None) -> None:
    """One of Connect's listeners for brokers is none; a file that wants TLS gets no port without."""
    found = rest_listeners.of_worker({"listeners": listeners}, OwnOptions())
    assert found.options == OwnOptions(admin_port=port)
    assert len(found.remarks) == bool(listeners.strip())
    assert all(("no port is opened" in each) is (port is None) for each in found.remarks)


def test_a_driver_opens_its_listeners_with_its_switch_alone() -> None:
    """Else a port that something else has would end a file that MirrorMaker 2 runs."""
    properties = {"listeners": "http://:8084"}
    found = rest_listeners.of_driver(properties, OwnOptions())
    assert found.options.admin_port is None
    (said,) = found.remarks
    assert said.startswith("listeners: without effect without dedicated.mode.enable.internal.rest=true")
    switched = {**properties, "dedicated.mode.enable.internal.rest": " TRUE "}
    assert rest_listeners.of_driver(switched, OwnOptions()) == rest_listeners.of_worker(properties, OwnOptions())
    assert rest_listeners.of_driver({}, OwnOptions()) == rest_listeners.Listening(OwnOptions())


def test_https_needs_a_certificate() -> None:
    properties = {"listeners": "https://:8443"}
    (said,) = rest_listeners.of_worker(properties, OwnOptions()).remarks
    assert "--admin.tls.certificate FILE names a certificate (PEM), and port 8443 is opened" in said
    assert rest_listeners.of_worker(properties, OwnOptions(admin_tls_certificate="c")).options.admin_port == 8443


def test_an_option_that_is_given_wins() -> None:
    options = OwnOptions(admin_port=1)
    found = rest_listeners.of_worker({"listeners": "http://:2"}, options)
    assert (found.options, found.remarks) == (options, ("listeners: --admin.port 1 is used instead",))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            OwnOptions(),
            "listeners: Connect's REST API is at 127.0.0.1:8084; --admin.address opens it to other hosts, with TLS and "
            "a login; it changes nothing: --admin.actions true lets it, with --admin.token.file",
        ),
        (OwnOptions(admin_address="10.0.0.1", admin_actions=True), "listeners: Connect's REST API is at 10.0.0.1:8084"),
    ],
)
def test_it_is_said_who_may_use_it(options: OwnOptions, said: str) -> None:
    assert rest_listeners.of_worker({"listeners": "http://other:8084"}, options).remarks == (said,)


@pytest.fixture
def lines(tmp_path: Path) -> dict[str, list[str]]:
    for name, text in (("mm2", FILE), ("worker", "bootstrap.servers=b:9092\nlisteners=http://:8084\n"), ("s", SOURCE)):
        (tmp_path / f"{name}.properties").write_text(text)
    worker, source = tmp_path / "worker.properties", tmp_path / "s.properties"
    return {
        "driver": ["connect-mirror-maker.sh", str(tmp_path / "mm2.properties")],
        "worker": ["connect-standalone.sh", str(worker), str(source)],
    }


@pytest.mark.parametrize("file", ["driver", "worker"])
def test_a_file_s_listener_is_the_port_of_its_flows(lines: dict[str, list[str]], file: str) -> None:
    found = {each.process.rest for each in MirrorLine(lines[file]).flows()}
    assert [(each.port, each.address, each.actions) for each in found] == [(8084, "127.0.0.1", False)]
    (found_too,) = {each.process.rest.port for each in MirrorLine([*lines[file], "--admin.port", "9"]).flows()}
    assert found_too == 9


@pytest.mark.parametrize("file", ["driver", "worker"])
def test_explain_says_it(lines: dict[str, list[str]], file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--offline", "--", *lines[file]]) == 0
    assert "Connect's REST API is at 127.0.0.1:8084" in " ".join(capsys.readouterr().out.split())
