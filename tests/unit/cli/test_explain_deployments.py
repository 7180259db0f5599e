"""`explain` over command lines that people really use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli.explain import StartJava, explain_line
from legacy_mm.cli.explain_text import render
from legacy_mm.explain.differences import DIFFERENCES

RECORDED = Path(__file__).parents[3] / "compat" / "recorded" / "facts" / "deployments.json"
DEPLOYMENTS: list[dict[str, Any]] = json.loads(RECORDED.read_text())
PLACEHOLDER = re.compile(r"<[^<>]*>|\$\{?[A-Za-z_]+\}?")
PLANTED = "planted-hush"
UNCLEAR = "fork|config file not found|idles"
"""Predictions that say nothing about a run whose files are there."""
NOT_YET = re.compile(r"is not supported|not supported yet|needs the package|Could not find a 'KafkaClient' entry")
"""Features to come, and login files that the record does not name."""
LOGIN_FILE = re.compile(r"(?<=-Djava\.security\.auth\.login\.config=)\S+")
PASSWORD = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p"'
KERBEROS = 'com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true serviceName="kafka"'
MORE = f"ssl.key.password={PLANTED}\nmy.token={PLANTED}\nsasl.oauthbearer.client.credentials.client.secret={PLANTED}\n"


@pytest.fixture(params=DEPLOYMENTS, ids=lambda deployment: deployment["id"])
def deployment(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


NOT_HERE = re.compile(r"ClassNotFoundException|NoSuchFileException")
"""Jars of message handlers, and key stores."""
WHY_NOT = (
    (NOT_HERE.pattern, "a jar or a key store that it names is not here"),
    (r"interceptor\.classes is not supported", "difference: java-code-refused"),
    (r"needs the package gssapi", "needs the package gssapi, which is compiled with libkrb5-dev"),
    (r"logins by AWS IAM need", "needs Amazon's package beside ours"),
    (r"Could not find a 'KafkaClient' entry", "the record does not say which login file there is"),
)
"""What is said -> a known difference, or what is not built yet."""
AS_BY_3_9_1 = "refused, as 3.9.1 refuses it"
RUNS = "runs unchanged"


def verdict(outcome: str, exit_code: int, predicted: str) -> str:
    """Why a deployment would not run, in a few words; empty if nothing is known that explains it."""
    known = [reason for said, reason in WHY_NOT if re.search(said, outcome)]
    if known:
        return known[0]
    if not predicted.startswith("runs"):
        return "not this tool, or its files are not known" if re.search(UNCLEAR, predicted) else AS_BY_3_9_1
    return "" if exit_code else RUNS


def runs_with_its_release(deployment: dict[str, Any], folder: Path, start_java: StartJava) -> bool:
    """Whether it would run with --legacy.release, and with the source's brokers where it has only ZooKeeper."""
    release = re.match(r"[\d.]*\d", deployment.get("kafka_version") or "")
    if release is None or release.group().startswith("0.7"):
        return False
    own = {"LEGACY_MM_LEGACY_RELEASE": release.group(), "LEGACY_MM_SOURCE_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    words, variables = command_line(deployment, folder), environment(deployment, folder) | own
    explanation, _ = explain_line(words, variables, ask=False, java=start_java)
    return explanation.exit_code == 0


@pytest.fixture(scope="module")
def verdicts() -> Iterator[dict[str, str]]:
    """Deployment -> verdict; all of them are printed at the end, by reason."""
    found: dict[str, str] = {}
    yield found
    print(f"\n{list(found.values()).count(RUNS)} of {len(found)} real deployments would run unchanged; the others:")
    for reason in sorted(set(found.values()) - {RUNS}):
        ids = sorted(id for id, given in found.items() if given == reason)
        print(f"  {len(ids)} {reason}: {', '.join(ids)}")


def environment(deployment: dict[str, Any], folder: Path) -> dict[str, str]:
    """The variables, filled in, with a login file where they name one: it has what the files ask for."""
    file = folder / "login.conf"
    asked = deployment["consumer_properties"] | deployment["producer_properties"]
    login = KERBEROS if asked.get("sasl.mechanism", "GSSAPI") == "GSSAPI" else PASSWORD
    file.write_text(f"KafkaClient {{ {login}; }};")
    variables = {name: LOGIN_FILE.sub(str(file), value) for name, value in deployment["env"].items()}
    return {name: PLACEHOLDER.sub("1", value) for name, value in variables.items()}


def command_line(deployment: dict[str, Any], folder: Path) -> list[str]:
    """The words, with placeholders filled in and the two files where the words say they are."""
    files = {f"{side}.config": folder / f"{side}.properties" for side in ("consumer", "producer")}
    for option, path in files.items():
        properties = deployment[option.replace(".config", "_properties")]
        lines = [f"{name}={PLACEHOLDER.sub('1', value)}\n" for name, value in properties.items()]
        path.write_text("".join(lines) + MORE)
    words: list[str] = []
    for word in deployment["launcher"]:
        name, inline, _ = word.lstrip("-").partition("=")
        before = words[-1].lstrip("-") if words else ""
        if before in files:
            words.append(str(files[before]))
        elif name in files and inline:
            words.append(f"--{name}={files[name]}")
        else:
            words.append(PLACEHOLDER.sub("1", word))
    return words


def test_a_real_deployment_is_explained(
    deployment: dict[str, Any], tmp_path: Path, verdicts: dict[str, str], start_java: StartJava
) -> None:
    words = command_line(deployment, tmp_path)
    explanation, topics = explain_line(words, environment(deployment, tmp_path), ask=False, java=start_java)
    assert [row.word for row in explanation.words if "[hidden]" not in row.word] == [
        word for word, row in zip(words, explanation.words, strict=True) if "[hidden]" not in row.word
    ]
    text = render(explanation, topics)
    assert PLANTED not in text + json.dumps(asdict(explanation))
    assert max(map(len, text.splitlines())) <= 120
    predicted = deployment["predicted_on_3_9_1"]
    bad_pattern = "invalid regex" in predicted
    verdicts[deployment["id"]] = verdict(explanation.outcome, explanation.exit_code, predicted)
    assert verdicts[deployment["id"]], explanation.outcome
    if (
        verdicts[deployment["id"]] == AS_BY_3_9_1
        and not bad_pattern
        and runs_with_its_release(deployment, tmp_path, start_java)
    ):
        verdicts[deployment["id"]] += ", but its own release runs it"
    if any(why.search(explanation.outcome) for why in (NOT_YET, NOT_HERE)) or re.search(UNCLEAR, predicted):
        return
    if bad_pattern:
        assert "was probably meant" in explanation.outcome
    expected = 255 if bad_pattern else 0 if predicted.startswith("runs") else 1
    assert explanation.exit_code == expected, explanation.outcome


def test_reasons_that_name_a_difference_name_a_known_one() -> None:
    named = {reason.partition("difference: ")[2] for _, reason in WHY_NOT} - {""}
    assert named <= {row.id for row in DIFFERENCES}
