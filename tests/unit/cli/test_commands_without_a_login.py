"""Commands that know librdkafka only say so where the files log in by Kerberos, or with a delegation token."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.audit.java_files import write_properties
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.compat import client_connection
from legacy_mm.errors import ConfigurationError

SASL = {"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SASL_PLAINTEXT"}
TOKEN = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="i" password="hush" tokenauth=true;'
LOGINS = {
    "sasl.mechanism=GSSAPI": {
        "sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true;",
        "sasl.kerberos.service.name": "kafka",
    },
    "a delegation token": {"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": TOKEN},
}


@pytest.mark.parametrize("login", LOGINS)
def test_one_sentence(login: str, tmp_path: Path) -> None:
    plain = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g"}
    files = {"consumer": plain, "producer": SASL | LOGINS[login]}
    words = ["--include", "t"]
    for side, properties in files.items():
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    assert len(MirrorLine(words).flows()) == 1
    with pytest.raises(ConfigurationError, match=f"this command has no login by {login}"):
        MirrorLine(words).flows_by_librdkafka()
    with pytest.raises(ConfigurationError, match=f"this command has no login by {login}") as refused:
        client_connection.read_for_librdkafka(str(tmp_path / "producer"))
    assert "hush" not in str(refused.value)
