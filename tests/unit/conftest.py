"""What unit tests share: logging, which belongs to the process, is left as it was."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def restore_logging() -> Iterator[None]:
    """Leave the process's logging as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    hooks = (warnings.showwarning, threading.excepthook, sys.unraisablehook)
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers, root.level = handlers, level
    warnings.showwarning, threading.excepthook, sys.unraisablehook = hooks
    for name in ("py4j", "pyspark"):
        logging.getLogger(name).setLevel(logging.NOTSET)
