"""Memory for what comes out of a socket."""

from __future__ import annotations

import numpy as np


def unwritten(size: int) -> memoryview:
    """Return uninitialized memory of this size: megabytes that are overwritten at once need not be zeroed."""
    return np.empty(size, np.uint8).data
