"""The membership that a file asks for; and libraries whose modules import each other, loaded before threads meet in
them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import pytest

from legacy_mm.clients.group.member import Member
from legacy_mm.clients.group.membership import NativeMember
from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember
from legacy_mm.flow import group_members
from tests.fixtures import client_settings
from tests.unit.clients.group.test_membership import Listener

BLANK = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": " p"}
"""A login that librdkafka lacks, and every host has."""
KERBEROS = pytest.mark.skipif(
    find_spec("gssapi") is None, reason="pip install 'legacy-mm[kerberos]' (needs Debian's libkrb5-dev)"
)
AT_ONCE = """
import importlib, sys, threading
sys.setswitchinterval(1e-6)
from legacy_mm.flow import group_members
group_members.load_native()
names = ["group.groups", "admin.admin", "admin.access_rules", "admin.inspector"]
together, failed = threading.Barrier(len(names)), []

def load(name):
    together.wait()
    try:
        importlib.import_module(f"legacy_mm.clients.{name}")
    except Exception as error:
        failed.append(repr(error))

threads = [threading.Thread(target=load, args=[name]) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(failed))
"""


def test_threads_find_our_clients_whole() -> None:
    """Without the first import three to six of these fail each time."""
    done = subprocess.run([sys.executable, "-P", "-c", AT_ONCE], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


@pytest.fixture(scope="module")
def made() -> Iterator[list[Member]]:
    """Members are closed together: each first ends the pause before it tries to connect again."""
    members: list[Member] = []
    yield members
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda member: member.close(), members))


@pytest.mark.parametrize(
    ("properties", "tuned", "kind"),
    [
        ({}, False, NativeMember),
        ({"partition.assignment.strategy": "roundrobin,range", "group.instance.id": "a"}, False, NativeMember),
        ({}, True, LibrdkafkaMember),
        ({"partition.assignment.strategy": "cooperative-sticky"}, False, LibrdkafkaMember),
        ({"group.protocol": "consumer"}, False, LibrdkafkaMember),
        (BLANK, True, NativeMember),
        pytest.param({"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}, True, NativeMember, marks=KERBEROS),
    ],
)
def test_librdkafka_keeps_the_memberships_that_only_it_can(
    made: list[Member], properties: dict[str, str], tuned: bool, kind: type
) -> None:
    settings = client_settings.read_consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **properties})
    made.append(group_members.member(settings, "g-0", Listener(), lambda statistics: None, 1.0, tuned=tuned))
    assert type(made[-1]) is kind
