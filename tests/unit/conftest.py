"""How hypothesis runs: no clock decides, because a first example may compile a kernel and the host may be busy."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("shared host", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared host")
