"""How our own commands reach a cluster, by the files of a mirror."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.secret import Secret
from legacy_mm.words.legacy_tool import client_connection


def test_the_login_file_that_the_mirror_has_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "c.properties"
    file.write_text("bootstrap.servers=127.0.0.1:1\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n")
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="${me}" password="hush";'
    (tmp_path / "jaas.conf").write_text(f"KafkaClient {{ {login} }};")
    monkeypatch.setenv("KAFKA_OPTS", f"-Djava.security.auth.login.config={tmp_path}/jaas.conf -Dme=mirror")
    found = client_connection.read(str(file), client_connection.java_of_environment()).written
    assert (found.sasl.username, found.sasl.password) == ("mirror", Secret("hush"))
    monkeypatch.delenv("KAFKA_OPTS")
    with pytest.raises(ConfigurationError, match="is not set"):
        client_connection.read(str(file), client_connection.java_of_environment())
