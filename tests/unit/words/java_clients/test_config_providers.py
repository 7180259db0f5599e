"""`config.providers` as Kafka's clients have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties.apply import apply
from legacy_mm.words.java_clients.config_providers import declared, resolve
from tests.fixtures.client_settings import texts

PACKAGE = "org.apache.kafka.common.config.provider."
DECLARED = {
    "config.providers": "file,dir,env",
    "config.providers.file.class": PACKAGE + "FileConfigProvider",
    "config.providers.dir.class": PACKAGE + "DirectoryConfigProvider",
    "config.providers.env.class": PACKAGE + "EnvVarConfigProvider",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.properties").write_text("user = mirror\npassword=a\\u0062c\n")
    (tmp_path / "token").write_text("from a mount\n")
    (tmp_path / "allowed").mkdir()
    monkeypatch.setenv("MIRROR_NAME", "from-the-environment")
    return tmp_path


def look_up(text: str, **parameter: str) -> str:
    named = {f"config.providers.{name.replace('_', '.')}": value for name, value in parameter.items()}
    return resolve({**DECLARED, **named, "x": text}).properties["x"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("${file:{folder}/own.properties:password}", "abc"),
        ("u=${file:{folder}/own.properties:user}, p=${file:{folder}/own.properties:password};", "u=mirror, p=abc;"),
        ("${dir:{folder}:token}", "from a mount\n"),
        ("${env:MIRROR_NAME}", "from-the-environment"),
        ("${env::MIRROR_NAME}", "from-the-environment"),
    ],
)
def test_references_are_looked_up(folder: Path, text: str, wanted: str) -> None:
    assert look_up(text.replace("{folder}", str(folder))) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "${vault:/secret:password}",
        "${file:{folder}/own.properties:nothing}",
        "${dir:{folder}:nothing}",
        "${dir:{folder}/allowed:../own.properties}",
        "${env:NO_SUCH_NAME_HERE}",
        "${file:key-without-path}",
        "$file:{folder}/own.properties:user",
        "${plain}",
    ],
)
def test_what_nobody_knows_stays(folder: Path, text: str) -> None:
    text = text.replace("{folder}", str(folder))
    assert look_up(text) == text


def test_files_are_utf_8(folder: Path) -> None:
    (folder / "own.properties").write_bytes(b"password=\xc3\xa9\n")
    reference = f"${{file:{folder}/own.properties:password}}"
    assert look_up(reference) == "\u00e9"
    (folder / "own.properties").write_bytes(b"password=\xe9\n")
    with pytest.raises(ConfigurationError, match="Could not read properties from file"):
        look_up(reference)


def test_blanks_belong_to_the_names(folder: Path) -> None:
    """As AbstractConfig of 3.9.1 took them."""
    kept = resolve({**DECLARED, "config.providers": "file, env", "x": "${env:MIRROR_NAME}"})
    assert kept.properties["x"] == "${env:MIRROR_NAME}"
    blank = {"config.providers": "a, env", "config.providers. env.class": PACKAGE + "EnvVarConfigProvider"}
    assert resolve({**blank, "x": "${ env:MIRROR_NAME}"}).properties["x"] == "from-the-environment"


def test_nothing_is_looked_up_without_a_declaration(folder: Path) -> None:
    text = "${env:MIRROR_NAME}"
    assert resolve({"x": text}).properties == {"x": text}
    without_class = {"config.providers": "env", "x": text}
    assert resolve(without_class).properties == without_class


def test_parameters_limit_what_is_read(folder: Path) -> None:
    reference = f"${{file:{folder}/own.properties:user}}"
    assert look_up(reference, file_param_allowed_paths=str(folder)) == "mirror"
    assert look_up(reference, file_param_allowed_paths="/usr") == reference
    climbing = f"${{file:/usr/..{folder}/own.properties:user}}"
    assert look_up(climbing, file_param_allowed_paths="/usr") == climbing
    assert look_up("${env:MIRROR_NAME}", env_param_allowlist_pattern="OTHER_.*") == "${env:MIRROR_NAME}"
    assert look_up("${env:MIRROR_NAME}", env_param_allowlist_pattern="MIRROR") == "${env:MIRROR_NAME}"


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"x": "${file:/nowhere.properties:user}"}, "Could not read properties from file /nowhere.properties"),
        ({"x": "${env:/path:NAME}"}, "Path is not supported for EnvVarConfigProvider, invalid value '/path'"),
        (
            {"x": "${file:/a:b}", "config.providers.file.class": "com.acme.Vault"},
            "Invalid value com.acme.Vault for configuration config.providers.file.class, to which x refers: possible "
            f"are {PACKAGE}FileConfigProvider, {PACKAGE}DirectoryConfigProvider, {PACKAGE}EnvVarConfigProvider. Bring "
            "the value as a file or as an environment variable, and refer to that",
        ),
        (
            {"x": "${file:/a:b}", "config.providers.file.class": f" {PACKAGE}FileConfigProvider"},
            f"Invalid value  {PACKAGE}FileConfigProvider ",
        ),
        (
            {"x": "${file:/a:b}", "config.providers.file.param.allowed.paths": "relative"},
            "Path relative is not absolute",
        ),
        (
            {"x": "${file:/a:b}", "config.providers.file.param.allowed.paths": "/nowhere"},
            "Path /nowhere does not exist",
        ),
        (
            {"x": "${env:MIRROR_NAME}", "config.providers.env.param.allowlist.pattern": r"\p{Upper}+"},
            r"allowlist.pattern \p{Upper}+ cannot be used: bad escape \p",
        ),
    ],
)
def test_refused(properties: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        resolve({**DECLARED, **properties})
    assert str(refused.value).startswith(f"org.apache.kafka.common.config.ConfigException: {said}")
    assert refused.value.property_name == "x"


OF_AN_OPERATOR = {
    "config.providers": "strimzienv,strimzifile,strimzidir,strimzisecrets",
    "config.providers.strimzienv.class": "io.strimzi.kafka.EnvVarConfigProvider",
    "config.providers.strimzienv.param.allowlist.pattern": ".*",
    "config.providers.strimzifile.class": PACKAGE + "FileConfigProvider",
    "config.providers.strimzifile.param.allowed.paths": "/no/such/folder/here",
    "config.providers.strimzidir.class": PACKAGE + "DirectoryConfigProvider",
    "config.providers.strimzidir.param.allowed.paths": "/no/such/folder/here",
    "config.providers.strimzisecrets.class": "io.strimzi.kafka.KubernetesSecretConfigProvider",
    "config.providers.strimzisecrets.param.token": "${vault:a:b}",
}


def test_what_nothing_refers_to_does_no_harm(folder: Path) -> None:
    read = resolve({**OF_AN_OPERATOR, "x": "${strimzienv:MIRROR_NAME}"})
    assert (read.properties["x"], read.kept) == ("from-the-environment", ())
    with pytest.raises(ConfigurationError, match=r"y refers to Kubernetes by io\.strimzi\.kafka\.KubernetesSecret"):
        resolve({**OF_AN_OPERATOR, "y": "${strimzisecrets:ns/name:password}"})
    amazon = "com.amazonaws.kafka.config.providers.SecretsManagerConfigProvider"
    declared_only = {"config.providers": "sm", "config.providers.sm.class": amazon, "x": "plain"}
    assert resolve(declared_only).properties == declared_only


@pytest.mark.parametrize("listed", ["file, env", " file ,env ", "file,env,", "file,\tenv ,", ",env"])
def test_a_driver_and_a_worker_trim_the_list(folder: Path, listed: str) -> None:
    written = {**DECLARED, "config.providers": listed, "x": "${env:MIRROR_NAME}"}
    read = resolve(written, declared(written, trims=True))
    assert (read.properties["x"], read.kept) == ("from-the-environment", ())


@pytest.mark.parametrize(
    ("changed", "text", "told"),
    [
        ({}, "${vault:/secret:password}", "${...}, which stays as it is written: config.providers names no such"),
        ({}, "pa${ss:word}", "${...}, which stays as it is written: config.providers names no such"),
        ({}, "${env:NO_SUCH_NAME_HERE}", "${env:...}, which stays as it is written: its provider has no value for it"),
        ({"config.providers": "file, env"}, "${env:MIRROR_NAME}", "${env:...}, which stays as it is written: blanks"),
        ({"config.providers": "file"}, "${env:MIRROR_NAME}", "${env:...}, which stays as it is written: config.pro"),
        ({"config.providers": "env,x"}, "${x:MIRROR_NAME}", "${x:...}, which stays as it is written: config.prov"),
    ],
)
def test_a_reference_that_nobody_looks_up_is_told_without_what_may_be_secret(
    folder: Path, changed: dict[str, str], text: str, told: str
) -> None:
    read = resolve({**DECLARED, **changed, "p": text})
    assert read.properties["p"] == text
    ((name, sentence, _),) = read.kept
    assert name == "p"
    assert sentence.startswith(f"p holds {told}")
    assert not any(word in sentence for word in ("MIRROR_NAME", "NO_SUCH", "secret", "password", "word", "ss:"))


def test_a_client_s_own_provider_may_look_it_up(folder: Path) -> None:
    own = {"A.consumer.config.providers.env.class": PACKAGE + "EnvVarConfigProvider"}
    assert resolve({**own, "A.consumer.x": "${env:MIRROR_NAME}"}).kept == ()


def test_what_was_looked_up_is_no_reference(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_NAME", "${env:MIRROR_NAME}")
    assert resolve({**DECLARED, "x": "${env:MIRROR_NAME}"}).kept == ()


def test_what_was_looked_up_is_a_secret(folder: Path) -> None:
    (folder / "own.properties").write_text("servers=broker-of-a-customer:9092\n")
    servers = f"${{file:{folder}/own.properties:servers}}"
    read = apply("producer", DECLARED | {"bootstrap.servers": servers})
    assert texts(read)["bootstrap.servers"] == "broker-of-a-customer:9092"
    assert "broker-of-a-customer:9092" in read.secrets
