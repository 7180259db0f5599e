"""The part of a stream that depends on its delivery guarantee. Here: at least once. Exactly once has more to do."""

from __future__ import annotations

from legacy_mm.base.model import Offsets
from legacy_mm.clients.group.member import Member
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.copy_job import CopyJob


class DeliveryGuarantee:
    """At least once. The stream's thread makes every call."""

    leaves_unanswered = False
    """At a stop a member whose last commit got no answer leaves the group; else it stays until its session is over."""

    def poll(self, job: CopyJob, member: Member, commits: Commits) -> None:
        """Answer what the task of a copy job has asked its stream: nothing."""

    def committed(self, job: CopyJob, offsets: Offsets) -> None:
        """Tell a copy job what the group has by now: it waits for nothing."""

    def job_is_over(self) -> None:
        """Forget what a copy job has asked: nothing."""

    def gap_answered(self, commits: Commits, answers: Offsets) -> Offsets:
        """Note that partitions go on at these offsets; return those that are their starts from now on.

        The offsets count at once. `Started` comes later, or never.
        """
        commits.restart(answers)
        commits.chosen(answers)
        return answers
