"""The file and the words of a distributed worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, UsageError
from legacy_mm.cli.legacy_mm import main
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver
from legacy_mm.words.mirror_maker_2.distributed_worker import config_storage
from legacy_mm.words.options.option_catalogue import OwnOptions

CLIENTS = ClientTranslation(Environment(), OwnOptions())
WORKER = {
    "bootstrap.servers": "b:9092",
    "group.id": "g",
    "config.storage.topic": " connect-configs ",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
}


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def make(**more: str) -> str:
        path = tmp_path / "worker.properties"
        path.write_text("".join(f"{key} = {text}\n" for key, text in {**WORKER, **more}.items()))
        return str(path)

    return make


def test_the_topic_of_configurations() -> None:
    found = config_storage({**WORKER, "client.id": "mine", "security.protocol": "PLAINTEXT"}, CLIENTS)
    assert (found.topic, found.replication_factor) == ("connect-configs", 3)
    assert found.cluster.connection.bootstrap_servers == ("b:9092",)
    assert config_storage({**WORKER, "config.storage.replication.factor": "-1"}, CLIENTS).replication_factor == -1


@pytest.mark.parametrize("key", WORKER)
def test_what_is_missing_is_said_in_connect_s_words(key: str) -> None:
    worker = {name: text for name, text in WORKER.items() if name != key}
    with pytest.raises(ConfigurationError, match=f'Missing required configuration "{key}" which has no default value'):
        config_storage(worker, CLIENTS)


def test_a_replication_factor_that_is_no_number() -> None:
    with pytest.raises(ConfigurationError, match="config.storage.replication.factor=many is no number"):
        config_storage({**WORKER, "config.storage.replication.factor": "many"}, CLIENTS)


def test_a_distributed_worker_starts_without_a_connector(file: Callable[..., str]) -> None:
    run = driver.translate_connect(connect_files.load(connect_line.parse(["--distributed", file()])), CLIENTS)
    assert run.flows == ()
    assert run.storage is not None
    assert run.storage.topic == "connect-configs"
    assert run.may_grow


def test_a_standalone_worker_without_a_connector_needs_a_port_that_acts(file: Callable[..., str]) -> None:
    files = connect_files.load(connect_line.parse([file()]))
    for options in (OwnOptions(), OwnOptions(admin_port=1)):
        with pytest.raises(ConfigurationError, match="no connector is named: name the file of one, or let them come"):
            driver.translate_connect(files, ClientTranslation(Environment(), options))
    acting = OwnOptions(admin_port=1, admin_actions=True)
    assert files.flows(acting) == []


def test_files_of_connectors_are_not_for_a_distributed_worker() -> None:
    with pytest.raises(UsageError, match="with --distributed the connectors are those of config.storage.topic: send a"):
        connect_line.parse(["--distributed", "worker.properties", "a.properties"])
    assert connect_line.parse(["--distributed", "w", "--admin.port", "1"]).own_words == ("--admin.port", "1")


@pytest.mark.parametrize("words", [("connect-distributed.sh",), ("legacy-mm", "connect", "--distributed")])
def test_explain_names_the_topic(
    words: tuple[str, ...], file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "--offline", "--", *words, file()]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the connectors are those of topic connect-configs, which is not read here" in said
    assert "It would run." in said
