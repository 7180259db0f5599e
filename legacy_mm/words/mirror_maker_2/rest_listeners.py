"""`listeners` of a driver's or a worker's file: the port of Connect's REST API, which is that of `--admin.port` here.

Only the port is taken. Its address is that of `--admin.address`, this host if nobody says otherwise: a file that was
written for Connect opens nothing to others here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from legacy_mm.base.option import split_list
from legacy_mm.base.settings import is_loopback
from legacy_mm.words.mirror_maker_2.connector_properties import java_boolean
from legacy_mm.words.options.option_catalogue import OwnOptions

SWITCH = "dedicated.mode.enable.internal.rest"
"""The key of a driver's file by which its nodes open their ports."""
_KEY = "listeners"
_LISTENER = re.compile(r"(?P<scheme>https?)://(?P<host>.*):(?P<port>\d{1,5})/?", re.IGNORECASE)
_MOST = 65_535


class Listening(NamedTuple):
    """The meaning of the listeners of a file."""

    options: OwnOptions
    """The options that were given, with the port."""
    remarks: tuple[str, ...] = ()
    """Sentences for the start."""


def of_driver(properties: Mapping[str, str], options: OwnOptions) -> Listening:
    """Return what the listeners of a driver's file mean: MirrorMaker 2 opens them with its switch alone."""
    if java_boolean(properties.get(SWITCH, "").strip()):
        return of_worker(properties, options)
    if not split_list(properties.get(_KEY, "")):
        return Listening(options)
    said = f"without effect without {SWITCH}=true, as in MirrorMaker 2; --admin.port NUMBER opens Connect's REST API"
    return Listening(options, (f"{_KEY}: {said}",))


def of_worker(properties: Mapping[str, str], options: OwnOptions) -> Listening:
    """Return what the listeners of a worker's properties mean; an option that is given wins."""
    given = split_list(properties.get(_KEY, ""))
    if not given:
        return Listening(options)
    if options.admin_port is not None:
        return Listening(options, (f"{_KEY}: --admin.port {options.admin_port} is used instead",))
    for each in given:
        found = _LISTENER.fullmatch(each)
        if found is not None and 1 <= (port := int(found["port"])) <= _MOST:
            return _opened(port, options, is_tls=found["scheme"].lower() == "https")
    said = (
        "no port is opened: none of them is http://HOST:PORT with a port from 1 to 65535; --admin.port NUMBER opens one"
    )
    return Listening(options, (f"{_KEY}: {said}",))


def _opened(port: int, options: OwnOptions, *, is_tls: bool) -> Listening:
    if is_tls and options.admin_tls_certificate is None:
        return Listening(
            options,
            (
                f"{_KEY}: no port is opened for https, because keys of a Java store are not read for it; "
                f"--admin.tls.certificate FILE names a certificate (PEM), and port {port} is opened",
            ),
        )
    where = f"Connect's REST API is at {options.admin_address}:{port}"
    others = (
        ""
        if not is_loopback(options.admin_address)
        else ("; --admin.address opens it to other hosts, with TLS and a login")
    )
    acts = (
        "" if options.admin_actions else "; it changes nothing: --admin.actions true lets it, with --admin.token.file"
    )
    return Listening(replace(options, admin_port=port), (f"{_KEY}: {where}{others}{acts}",))
