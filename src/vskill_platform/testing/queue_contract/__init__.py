"""What every engine's queue must do: the sentences of `ports.queue` as tests, to be inherited by an engine's test module.

The module that inherits `QueueContract` provides two fixtures: `clock`, a FakeClock, and `engine`, an engine that was
opened with it, fresh for each test, with the default number of attempts. Nothing in here may know which engine it has.
"""

from __future__ import annotations

from vskill_platform.testing.queue_contract.delivery import DeliveryContract
from vskill_platform.testing.queue_contract.exchange import ExchangeContract
from vskill_platform.testing.queue_contract.leases import LeaseContract
from vskill_platform.testing.queue_contract.model import ModelContract
from vskill_platform.testing.queue_contract.operators import OperatorContract
from vskill_platform.testing.queue_contract.settlement import SettlementContract
from vskill_platform.testing.queue_contract.waiting import WaitingContract


class QueueContract(
    DeliveryContract,
    WaitingContract,
    LeaseContract,
    SettlementContract,
    ExchangeContract,
    OperatorContract,
    ModelContract,
):
    """The whole contract of `ports.queue.Queue`."""
