"""A Kerberos realm on loopback, by MIT's own server. Rule: everything it writes is under the folder that was given."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from compat.laboratory.ports import LOOPBACK, Ports
from legacy_mm.audit.spawn import spawn
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError

REALM = "LEGACY.TEST"
_TOOLS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_PATH = f"{os.defpath}:/usr/sbin:/usr/local/sbin"
_SECONDS = 60.0
_CLIENTS = """\
[libdefaults]
default_realm = {realm}
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
{realm} = {{
  kdc = {host}:{port}
}}
"""
_SERVER = """\
[kdcdefaults]
kdc_listen = ""
kdc_tcp_listen = {host}:{port}
[realms]
{realm} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
}}
"""


def installed() -> bool:
    """Return True if this host has a Kerberos server (Debian: krb5-kdc, krb5-admin-server)."""
    return all(shutil.which(tool, path=_PATH) for tool in _TOOLS)


class Realm:
    """A key distribution center, and keytabs of the principals it knows."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder.resolve()
        self._ports = Ports()
        self._port = self._ports.reserve()
        self.configuration = self._folder / "krb5.conf"
        """The clients' file, for KRB5_CONFIG or Java's java.security.krb5.conf."""
        words = {"realm": REALM, "host": LOOPBACK, "port": self._port, "folder": self._folder}
        self.configuration.write_text(_CLIENTS.format(**words))
        (self._folder / "kdc.conf").write_text(_SERVER.format(**words))
        self._environment = {
            **os.environ,
            "PATH": _PATH,
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_KDC_PROFILE": str(self._folder / "kdc.conf"),
        }

    def keytab(self, principal: str) -> Path:
        """Create a principal and return a keytab with its keys."""
        file = self._folder / f"{principal.replace('/', '-')}.keytab"
        self._run("kadmin.local", "-q", f"addprinc -randkey {principal}")
        self._run("kadmin.local", "-q", f"ktadd -norandkey -k {file} {principal}")
        return file

    def tickets(self, principal: str, keytab: Path, cache: Path) -> None:
        """Write a cache with a ticket, as `kinit` does."""
        self._run("kinit", "-k", "-t", str(keytab), "-c", str(cache), principal)

    def __enter__(self) -> Self:
        self._run("kdb5_util", "create", "-s", "-P", "master", "-r", REALM)
        log = self._folder / "kdc.log"
        server = shutil.which("krb5kdc", path=_PATH) or "krb5kdc"
        self._process = spawn([server, "-n"], folder=self._folder, output=log, environment=self._environment)
        wait_until(self._listens, _SECONDS, "the Kerberos server")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._ports.release()

    def _listens(self) -> bool:
        with socket.create_connection((LOOPBACK, self._port), timeout=1.0):
            return True

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if done.returncode != 0:
            raise HostError(f"{command[0]} failed: {done.stderr.strip()}")
