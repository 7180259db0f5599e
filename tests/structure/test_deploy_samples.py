"""`samples/deploy` against the real options, metrics, beans and scripts, and against other people's checkers."""

from __future__ import annotations

import configparser
import importlib.util
import json
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from compat.laboratory.releases import CURRENT
from legacy_mm.cli.parser import read_own_options
from legacy_mm.features.topic_acls.made_rules import state_folder
from legacy_mm.metrics.health import PROBES
from legacy_mm.metrics.legacy_mbeans import BEANS
from legacy_mm.metrics.metric_catalogue import METRICS
from legacy_mm.runtime.jvm.jars import cache_folder
from legacy_mm.words.legacy_tool import command_line
from legacy_mm.words.options.option_catalogue import OwnOptions
from tests.structure.source_tree import CHECKOUT

FOLDER = CHECKOUT / "samples" / "deploy"
SHUTDOWN_SECONDS = OwnOptions().shutdown_timeout_ms / 1000
CLEAN_STOPS = {128 + number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
FILES = "/etc/kafka-mirror"
METRIC = re.compile(r"\blegacy_mm_\w+")
SCRAPED = {metric.prometheus for metric in METRICS if metric.kind != "rate"}


def documents(name: str) -> list[Any]:
    """Those of a YAML file."""
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def options(words: Sequence[str]) -> OwnOptions:
    """Ours, of a command line that the real parser takes and that has all the legacy tool wants."""
    line = command_line.parse(words)
    assert line.value("consumer.config") == f"{FILES}/consumer.properties"
    assert line.value("producer.config") == f"{FILES}/producer.properties"
    assert line.has("whitelist")
    return read_own_options(line.own_words, {})


@pytest.fixture(scope="module")
def unit() -> configparser.ConfigParser:
    """The systemd unit, continuation lines joined."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    text = (FOLDER / "kafka-mirror-maker@.service").read_text()
    parser.read_string(re.sub(r" *\\\n *", " ", text))
    return parser


@pytest.fixture(scope="module")
def mirror() -> Any:
    """The mirror's service in the compose file."""
    return documents("compose.yaml")[0]["services"]["mirror"]


@pytest.fixture(scope="module")
def container() -> Any:
    """The mirror's container in Kubernetes."""
    (deployment,) = (each for each in documents("kubernetes.yaml") if each["kind"] == "Deployment")
    (found,) = deployment["spec"]["template"]["spec"]["containers"]
    return found


# --- systemd


def test_the_unit_starts_what_there_is(unit: configparser.ConfigParser) -> None:
    service = unit["Service"]
    text = (FOLDER / "kafka-mirror-maker@.service").read_text()
    (last,) = map(int, re.findall(r"Instances @0 to @(\d+)", text))
    for instance in range(last + 1):
        program, *words = shlex.split(service["ExecStart"].replace("%i", str(instance)))
        assert program == "/opt/legacy_mm/bin/kafka-mirror-maker.sh"
        assert options(words).metrics_port == 9400 + instance
    assert set(map(int, service["SuccessExitStatus"].split())) == CLEAN_STOPS
    assert int(service["TimeoutStopSec"]) > SHUTDOWN_SECONDS + 5
    variables = {assignment.partition("=")[0] for assignment in service["Environment"].split()}
    assert set(re.findall(r"\$\{(\w+)\}", service["ExecStart"])) == {"MIRROR_TOPICS"} < variables
    assert "$LOG_DIR" in (CHECKOUT / "bin/kafka-run-class.sh").read_text()


def test_the_unit_makes_the_folders_that_it_names(
    unit: configparser.ConfigParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its user sees no home."""
    service = unit["Service"]
    assert service["ProtectHome"] == "yes"
    for assignment in service["Environment"].split():
        monkeypatch.setenv(*assignment.split("=", 1))
    assert cache_folder() == Path("/var/cache", service["CacheDirectory"])
    assert state_folder() == Path("/var/lib", service["StateDirectory"])


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze here (Debian: systemd)")
    text = (FOLDER / "kafka-mirror-maker@.service").read_text()
    (script := tmp_path / "script").symlink_to(CHECKOUT / "bin/kafka-mirror-maker.sh")  # no blank in its path
    (tmp_path / "kafka-mirror-maker@.service").write_text(
        text.replace("/opt/legacy_mm/bin/kafka-mirror-maker.sh", str(script))
    )
    words: list[str | Path] = ["systemd-analyze", "verify", "--man=no", tmp_path / "kafka-mirror-maker@0.service"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    about_it = [line for line in done.stderr.splitlines() if "kafka-mirror-maker" in line]
    assert (done.returncode, about_it) == (0, []), done.stderr


# --- containers


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile, comments left out and lines joined."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", (FOLDER / "Dockerfile").read_text(), flags=re.MULTILINE))
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in text.splitlines() if line]


def test_the_image_runs_a_command_of_ours_as_nobody_in_particular() -> None:
    """The RUN lines are run by tests/brokers/test_wheel.py."""
    found = dict(instructions())
    assert found["USER"] == "1000:1000"
    assert json.loads(found["ENTRYPOINT"]) == ["kafka-mirror-maker.sh"]
    assert found["STOPSIGNAL"] == "SIGTERM"
    kept = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    assert kept[0] == "*"
    assert all((CHECKOUT / name.removeprefix("!")).exists() for name in kept[1:])
    modules = re.findall(r"-m (legacy_mm\S+)", (FOLDER / "Dockerfile").read_text())
    assert modules
    assert all(importlib.util.find_spec(module) for module in modules)


def test_the_compose_file_starts_what_there_is(mirror: Any) -> None:
    document = documents("compose.yaml")[0]
    build, services = mirror["build"], document["services"]
    assert (FOLDER / build["context"]).resolve() == CHECKOUT
    assert CHECKOUT / build["dockerfile"] == FOLDER / "Dockerfile"
    assert options(mirror["command"]).metrics_port == 9404
    assert {services[name]["image"] for name in ("source", "target")} == {f"apache/kafka:{CURRENT}"}
    assert mirror["read_only"] is True
    assert mirror["tmpfs"] == ["/tmp"]
    assert document["networks"]["brokers"]["internal"] is True
    assert int(mirror["stop_grace_period"].removesuffix("s")) > SHUTDOWN_SECONDS + 5
    for volume in mirror["volumes"]:
        here, there, mode = volume.split(":")
        name = (FOLDER / here).resolve().name
        assert (FOLDER / name).is_file()
        assert (there, mode) == (f"{FILES}/{name}", "ro")
    (url,) = re.findall(r'"http://127\.0\.0\.1:9404(/\w+)"', mirror["healthcheck"]["test"][-1])
    assert url in PROBES


def test_kubernetes_starts_what_there_is(container: Any) -> None:
    ours = options(container["args"])
    assert ours.metrics_port == container["ports"][0]["containerPort"]
    assert ours.metrics_address == "0.0.0.0"
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: get["path"] for name, get in probes.items()} == {
        "startup": "/healthz",
        "liveness": "/healthz",
        "readiness": "/readyz",
    }
    assert all(get["path"] in PROBES and get["port"] == container["ports"][0]["name"] for get in probes.values())
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    configuration, deployment, _ = documents("kubernetes.yaml")
    pod = deployment["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > SHUTDOWN_SECONDS + 5
    assert pod["securityContext"]["runAsNonRoot"] is True
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {"configuration": FILES, "scratch": "/tmp"}
    assert set(configuration["data"]) == {"consumer.properties", "producer.properties"}


def test_kubernetes_takes_the_documents() -> None:
    if importlib.util.find_spec("kubernetes_validate") is None:
        pytest.skip("no kubernetes-validate here: .venv/bin/pip install -e '.[dev]'")
    kubernetes_validate = importlib.import_module("kubernetes_validate")
    assert (found := documents("kubernetes.yaml"))
    for document in found:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


# --- logs


def test_the_rotated_files_are_those_that_are_written(unit: configparser.ConfigParser) -> None:
    text = re.sub(r"^#.*\n", "", (FOLDER / "logrotate.conf").read_text(), flags=re.MULTILINE)
    files = text.partition("{")[0].split()
    assert "LOG_DIR=/var/log/kafka-mirror" in unit["Service"]["Environment"].split()
    assert {Path(file).parent for file in files} == {Path("/var/log", unit["Service"]["LogsDirectory"])}
    assert "$LOG_DIR/$2.out" in (CHECKOUT / "bin/kafka-run-class.sh").read_text()
    assert Path(files[0]).name == "*.out"


def test_logrotate_takes_the_file(tmp_path: Path) -> None:
    if not shutil.which("logrotate"):
        pytest.skip("no logrotate here (Debian: logrotate)")
    copy = tmp_path / "logrotate.conf"
    copy.write_text((FOLDER / "logrotate.conf").read_text())
    copy.chmod(0o644)
    words: list[str | Path] = ["logrotate", "--debug", "--state", tmp_path / "state", copy]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "error:" in done.stderr) == (0, False), done.stderr


# --- metrics


def dashboard() -> Iterator[str]:
    """What its panels ask for."""
    for panel in json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "5m").replace("$flow", ".*")


def alerts() -> Iterator[Any]:
    for group in documents("prometheus-alerts.yaml")[0]["groups"]:
        yield from group["rules"]


@pytest.mark.parametrize("name", ["prometheus-alerts.yaml", "grafana-dashboard.json"])
def test_every_metric_is_one_of_ours(name: str) -> None:
    found = set(METRIC.findall((FOLDER / name).read_text()))
    assert len(found) > 5
    assert found <= SCRAPED


def test_every_alert_says_what_is_wrong() -> None:
    rules = list(alerts())
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= {
            "instance",
            *re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]+)\)", rule["expr"]))),
        }


def test_panels_do_not_overlap() -> None:
    board = json.loads((FOLDER / "grafana-dashboard.json").read_text())
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    taken = [
        (x, y)
        for at in (panel["gridPos"] for panel in board["panels"])
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert max(x for x, _ in taken) < 24


def test_prometheus_takes_alerts_and_panels(tmp_path: Path) -> None:
    if not shutil.which("promtool"):
        pytest.skip("no promtool here (Debian: prometheus)")
    rules = [{"record": f"panel:{number}", "expr": expr} for number, expr in enumerate(dashboard())]
    panels = tmp_path / "panels.yaml"
    panels.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    words: list[str | Path] = ["promtool", "check", "rules", FOLDER / "prometheus-alerts.yaml", panels]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# Series of a minute's step, and which alerts there are after an hour.
HOURS = [
    ("a mirror at work", {"records_copied_total": "0+600x60", "consumer_partition_records_lag": "5x60"}, set()),
    (
        "one that stands still",
        {"records_copied_total": "9x60", "consumer_partition_records_lag": "5x60"},
        {"MirrorStuck"},
    ),
    (
        "one that falls behind",
        {"records_copied_total": "0+60x60", "consumer_partition_records_lag": "100000+600x60"},
        {"MirrorLagGrows"},
    ),
    ("nobody has a partition", {"consumer_assigned_partitions": "0x60"}, {"MirrorWithoutPartitions"}),
    (
        "records that do not arrive",
        {"records_dropped_total": "0+1x60", "gap_offsets_total": "0+9x60", "records_quarantined_total": "0+1x60"},
        {"MirrorDropsRecords", "MirrorGap", "MirrorQuarantines"},
    ),
    ("a target that is away", {"producer_waiting_threads": "2x60"}, {"MirrorWaitsForTarget"}),
]


@pytest.mark.parametrize(("series", "expected"), [row[1:] for row in HOURS], ids=[row[0] for row in HOURS])
def test_alerts_of_an_hour(tmp_path: Path, series: dict[str, str], expected: set[str]) -> None:
    if not shutil.which("promtool"):
        pytest.skip("no promtool here (Debian: prometheus)")
    inputs = [{"series": f'legacy_mm_{name}{{flow="a->b"}}', "values": values} for name, values in series.items()]
    firing = [f'ALERTS{{alertname="{rule["alert"]}",alertstate="firing"}}' for rule in alerts()]
    wanted = [
        {
            "expr": f"count({alert}) or vector(0)",
            "eval_time": "60m",
            "exp_samples": [{"labels": "{}", "value": int(rule["alert"] in expected)}],
        }
        for alert, rule in zip(firing, alerts(), strict=True)
    ]
    file = tmp_path / "tests.yaml"
    tests = {
        "rule_files": [str(FOLDER / "prometheus-alerts.yaml")],
        "tests": [{"interval": "1m", "input_series": inputs, "promql_expr_test": wanted}],
    }
    file.write_text(yaml.safe_dump(tests))
    done = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def bean_attributes() -> Iterator[str]:
    """As the JMX exporter writes them for its patterns: `domain<key=value, ...><>attribute: value`."""
    for bean in BEANS:
        domain, _, keys = re.sub(r"\{\w+\}", "x", bean.pattern).partition(":")
        for attribute in bean.attributes:
            yield f"{domain}<{keys.replace(',', ', ')}><>{attribute.name}: 1.0"


def test_every_exporter_rule_finds_beans_and_gives_each_attribute_a_name() -> None:
    """Two levels of beans under one name would be one metric with different labels."""
    rules = documents("jmx-exporter.yaml")[0]["rules"]
    names: dict[str, set[str]] = {}
    used = set()
    for attribute in bean_attributes():
        for rule in rules:
            if found := re.fullmatch(f".*(?:{rule['pattern']}).*", attribute):  # what the exporter makes of it
                assert not [group for group in found.groups() if "," in group]
                used.add(rule["pattern"])
                name = re.sub(r"\$(\d)", lambda number, of=found: of[int(number[1])], rule["name"])  # type: ignore[misc]
                names.setdefault(name, set()).add(",".join(rule.get("labels", {})))
                break
    assert used == {rule["pattern"] for rule in rules}
    assert not {name: labels for name, labels in names.items() if len(labels) > 1}


def test_no_sample_is_left_unchecked() -> None:
    """A file that comes to this folder needs a test here."""
    named = Path(__file__).read_text()
    assert not [path for path in FOLDER.iterdir() if path.name not in named and path.suffix != ".properties"]
