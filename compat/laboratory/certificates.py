"""Keys, certificates and stores as administrators make them: with Java's own keytool. Rule: the password is one.

One authority signs; every store is of the format and of the keytool generation that is asked for.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from compat.laboratory.kept_folders import kept_folder, this_java
from legacy_mm.audit.spawn import QUICK_JVM
from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm.java_home import find_java

PASSWORD = "store-password"
_KEY = ("-keyalg", "EC", "-groupname", "secp256r1")
_SECONDS = 60


class Authority:
    """A certificate authority in a folder, made unless it is there, and what it signs."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._name = name
        self._store = folder / f"{name}-signer.p12"
        self.certificate = folder / f"{name}.pem"
        if self._store.exists():
            return
        signing = ("-ext", "bc:critical=ca:true")
        _keytool("-genkeypair", "-alias", name, *_KEY, "-dname", f"CN={name}", *signing, *_open(self._store))
        _keytool("-exportcert", "-rfc", "-alias", name, "-file", self.certificate, *_open(self._store))

    def trust(self, name: str, kind: str) -> Path:
        """Add this authority's certificate to a trust store, which is made if it is not there."""
        store = self._folder / name
        _keytool("-importcert", "-noprompt", "-alias", self._name, "-file", self.certificate, *_open(store, kind))
        return store

    def key(
        self,
        name: str,
        kind: str,
        *,
        owner: str = "client",
        host: str | None = None,
        key_password: str = PASSWORD,
        valid: Sequence[str] = (),
    ) -> Path:
        """Add a signed key of `owner`, with its chain, to a key store; `valid` are keytool's words for the time."""
        store = self._folder / name
        opened = _open(store, kind)
        named = ("-alias", owner)
        password = ("-keypass", key_password)
        _keytool("-genkeypair", *named, *_KEY, "-dname", f"CN={owner}", *password, *opened)
        request, signed = self._folder / f"{name}-{owner}.csr", self._folder / f"{name}-{owner}.pem"
        _keytool("-certreq", *named, "-file", request, *password, *opened)
        names = ("-ext", f"san={host}") if host else ()
        _keytool(
            *("-gencert", "-rfc", "-alias", self._name, "-infile", request, "-outfile", signed, *names, *valid),
            *_open(self._store),
        )
        signed.write_text(signed.read_text() + self.certificate.read_text())
        _keytool("-importcert", "-noprompt", *named, "-file", signed, *password, *opened)
        return store


def made_once(folder: Path, source: Path, make: Callable[[Path], None]) -> None:
    """Copy into a folder what `make`, in this source, makes once a month: a certificate is valid for 90 days."""
    month = time.strftime("%Y-%m", time.gmtime())
    kept = kept_folder(f"stores/{source.stem}", [source, Path(__file__), this_java(), month], make)
    shutil.copytree(kept, folder, dirs_exist_ok=True)


def convert(store: Path, into: Path, kind: str, *java: str) -> Path:
    """Convert a PKCS12 store to another format and return its content; `java` are words for keytool's JVM."""
    source = ("-srckeystore", store, "-srcstoretype", "PKCS12", "-srcstorepass", PASSWORD)
    target = ("-destkeystore", into, "-deststoretype", kind, "-deststorepass", PASSWORD)
    _keytool("-importkeystore", "-noprompt", *source, *target, *java)
    return into


def _open(store: Path, kind: str = "PKCS12") -> tuple[str | Path, ...]:
    return ("-keystore", store, "-storetype", kind, "-storepass", PASSWORD)


def _keytool(*words: str | Path) -> None:
    command = [str(find_java().with_name("keytool")), *(f"-J{flag}" for flag in QUICK_JVM), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode != 0:
        raise HostError(f"keytool {words[0]} failed: {done.stdout.strip() or done.stderr.strip()}")
