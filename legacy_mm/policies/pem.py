"""PEM texts as clients take them: what is trusted, what is shown."""

from __future__ import annotations

import re

from legacy_mm.base.errors import ConfigurationError, blamed

_BLOCK = re.compile(r"-----BEGIN (?P<kind>[A-Z0-9 ]+)-----(?P<body>.*?)-----END (?P=kind)-----", re.DOTALL)
_COLUMNS = 64


def certificates(name: str, text: str) -> str:
    """Return the certificates of a text; the error names `name` if there are none."""
    with blamed(name):
        return _blocks(name, text, "CERTIFICATE")


def private_key(name: str, text: str) -> str:
    """Return the private key of a text; the error names `name` if there is none."""
    with blamed(name):
        return _blocks(name, text, "PRIVATE KEY")


def _blocks(name: str, text: str, kind: str) -> str:
    """Return the blocks of one kind, each in lines of 64 columns: a file may have them all in one line."""
    blocks = []
    for block in _BLOCK.finditer(text):
        if not block["kind"].endswith(kind):
            continue
        headers, _, body = block["body"].rpartition("\n\n")
        if "Proc-Type" in headers:
            raise ConfigurationError(f"{name}: a PKCS#1 key with a password is not supported, by Java neither")
        packed = "".join(body.split())
        lines = [packed[start : start + _COLUMNS] for start in range(0, len(packed), _COLUMNS)]
        label = block["kind"]
        blocks.append("\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----\n"]))
    if not blocks:
        raise ConfigurationError(f"{name} holds no PEM block of the kind {kind}")
    return "".join(blocks)
