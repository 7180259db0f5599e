"""Producer ids for the queues of an idempotent producer (InitProducerId)."""

from __future__ import annotations

from kafka.protocol.producer.transaction import InitProducerIdRequest

from legacy_mm.base.errors import FailureKind
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ConnectionLost, RequestRefused, UnsupportedVersion
from legacy_mm.protocol import error_codes

_NO_TRANSACTION_TIMEOUT = 2**31 - 1


class ProducerIdRefused(RequestRefused):
    """The target does not give us a producer id."""

    failure_kind = FailureKind.IDEMPOTENCE_REFUSED


class ProducerIds:
    """The id that new queues start with, and fresh ones for queues that have to start again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._current: tuple[int, int] | None = None

    def acquire(self) -> tuple[int, int]:
        """Get a new producer id and its epoch, which new queues begin with from now on.

        Raise ConnectionLost when a later try may succeed, or ProducerIdRefused.
        """
        request = InitProducerIdRequest(
            transactional_id=None,
            transaction_timeout_ms=_NO_TRANSACTION_TIMEOUT,
            producer_id=-1,
            producer_epoch=-1,
        )
        try:
            answer = self._cluster.call_any(request)
        except UnsupportedVersion as error:
            raise ProducerIdRefused(str(error)) from error
        if error_codes.refuses_idempotence(answer.error_code):
            raise ProducerIdRefused(error_text.text(answer.error_code))
        if answer.error_code:
            raise ConnectionLost(f"no producer id: {error_text.text(answer.error_code)}")
        self._current = (answer.producer_id, answer.producer_epoch)
        return self._current

    @property
    def current(self) -> tuple[int, int]:
        """Return the producer id and epoch for new queues; call `acquire` first."""
        assert self._current is not None, "no producer id was asked for"
        return self._current
