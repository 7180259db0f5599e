"""One bundle's session, run to its end by the caller's thread: at the start of a flow, and for commands."""

from __future__ import annotations

from collections.abc import Iterable

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, Undecided
from legacy_mm.base.kafka_clients import ProducerSettings
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce import append_options
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.transactions.bundle import BUNDLES, Bundle
from legacy_mm.transactions.bundle_events import AskOwnership, CopyAction, FetchFrom, HoldPartitions, Owned, Timer
from legacy_mm.transactions.bundle_owner import BundleContents, BundleOwner, LogRow
from legacy_mm.transactions.claim_inspection import policy_doubt
from legacy_mm.transactions.transaction_client import TransactionClient
from legacy_mm.transactions.txn_requests import Positions, TransactionVersion

_LOOK_INTERVAL = 0.05
_QUESTION_TIMEOUT = 4.0


class BundleRuns:
    """Runs sessions at one cluster, one after the other. For one thread.

    Whoever owns a bundle meanwhile is fenced, and claims it again.
    """

    def __init__(self, settings: ProducerSettings, transaction_timeout: float) -> None:
        """Create the clients; nothing is asked before the first run. `transaction_timeout` is in seconds."""
        self._last_trouble = ""
        self._cluster = Cluster(settings.connection, _QUESTION_TIMEOUT)
        options = append_options.options_from(settings, owners=BUNDLES)
        self._appender = BatchAppender(self._cluster, options, Traffic("producer", self._note))
        self._client = TransactionClient(self._appender, transaction_timeout, self._note, self._appender.wake)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._appender.purge()
        self._cluster.close()

    def run(self, bundle: Bundle, contents: BundleContents, deadline: Deadline) -> TransactionVersion:
        """Take the bundle, write what its contents want, and end the session; return the version that it spoke.

        Raise HostError at the deadline, and what no later try can mend.
        """
        self._cluster.metadata.refresh()
        self._cluster.metadata.watch([bundle.positions.topic])
        work = _Run(bundle, contents, self._client)
        owner = self._client.own(bundle, work, work.do, 0.0)
        while not owner.is_over:
            self._turn(owner)
            if work.is_done and not owner.is_over:
                owner.handle(Timer.STOP)
            elif deadline.expired():
                raise HostError(
                    f"transactional id {bundle.transactional_id} could not be claimed in time{self._why(bundle)}"
                )
        return owner.version

    def _turn(self, owner: BundleOwner) -> None:
        self._appender.wait_for_news(_LOOK_INTERVAL)
        for acknowledged in self._appender.take_acknowledged():
            owner.written(acknowledged.opaque.request, acknowledged.base_offset)
        self._appender.poll()
        for refused in self._appender.take_refused():
            owner.refused(refused)
        self._client.poll()

    def _why(self, bundle: Bundle) -> str:
        name = bundle.transactional_id
        hangs = self._client.coordinators.hangs(name)
        if hangs == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            return f": its coordinator answers only {error_text.text(hangs)}; if that stays, restart its broker"
        if hangs:
            return (
                ": an earlier transaction of it does not end (CONCURRENT_TRANSACTIONS); kafka-transactions.sh describe "
                f"--transactional-id {name} shows what it waits for, often a partition without a leader"
            )
        return f": {self._last_trouble}" if self._last_trouble else ""

    def _note(self, text: str) -> None:
        """Keep the last thing that was met on the way."""
        self._last_trouble = text


class _Run:
    """One run: its contents, and what its owner hands on. It copies nothing."""

    def __init__(self, bundle: Bundle, contents: BundleContents, client: TransactionClient) -> None:
        self.is_done = False
        self.claim = contents.claim
        self.position_records = contents.position_records
        self._contents = contents
        self._bundle = bundle
        self._client = client

    def decide_positions(self, rows: Iterable[LogRow]) -> tuple[Positions, Positions]:
        """Return what its contents find; raise Undecided before they do, where the topic keeps no positions."""
        if doubt := policy_doubt(self._client.appender.cluster, self._bundle.positions.topic):
            raise Undecided(doubt)
        return self._contents.decide_positions(rows)

    def do(self, action: CopyAction) -> None:
        """Take the bundle without a group: a run is short, and whoever copies claims it again. Note the end.

        Raise RequestRefused where the right is missing; a new topic is not known to all brokers at once.
        """
        match action:
            case AskOwnership():
                self._client.tell(self._bundle, Owned())
            case FetchFrom():
                self.is_done = True
            case HoldPartitions(_, ErrorCode.TOPIC_AUTHORIZATION_FAILED as error):
                place = self._bundle.positions
                raise RequestRefused(f"positions cannot be written to {place}: {error_text.text(error)}")
            case HoldPartitions():
                self._client.appender.cluster.metadata.stale()
