"""No deadline for single examples: the first one may have to compile a kernel."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("compiling", deadline=None)
settings.load_profile("compiling")
