"""Scrapes a tool's admin port each second, as Prometheus would, while it is measured."""

from __future__ import annotations

import contextlib
import threading
import urllib.request
from collections.abc import Iterator

from compat.laboratory.ports import LOOPBACK

_INTERVAL, _TIMEOUT = 1.0, 10.0


@contextlib.contextmanager
def scraped(port: int) -> Iterator[None]:
    """Ask `/metrics` each second until the block ends; a port of 0 is asked nothing."""
    over = threading.Event()
    thread = threading.Thread(target=_scrape, args=(f"http://{LOOPBACK}:{port}/metrics", over), daemon=True)
    if port:
        thread.start()
    try:
        yield
    finally:
        over.set()
        if port:
            thread.join()


def _scrape(address: str, over: threading.Event) -> None:
    while not over.wait(_INTERVAL):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=_TIMEOUT) as answer:
            answer.read()
