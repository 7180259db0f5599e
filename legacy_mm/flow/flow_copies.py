"""The maker of a flow's copy jobs, with its handler's code and steps."""

from __future__ import annotations

from legacy_mm.flow.copy_jobs import Copies
from legacy_mm.flow.feature_work import FeatureWork
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from legacy_mm.flow.names import Names
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers.held_code import HeldCode


def copies_of(settings: Settings, host: Host, names: Names, work: FeatureWork) -> Copies:
    """Return it; `work` of the features may prepare the target and take offset pairs."""
    handled, shared = settings.handler, (host.channel, host.runner, host.processes)
    steps = TopicSteps(handled.steps, lambda: host.spark.jvm) if handled is not None and handled.steps else None
    held = None if handled is None or not host.spark.embedded else HeldCode(handled, host.spark.folder / "code")
    prepare = None if work.duties is None else work.duties.before_copying
    pairs = None if work.offsets is None else work.offsets.pairs
    return Copies(settings, names, *shared, prepare, pairs, host.exits.put, steps, held)
