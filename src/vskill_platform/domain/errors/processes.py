"""What a process was given, where it listens, and whether it answers."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.general import InvalidInput


class InvalidSettings(InvalidInput):
    """A setting has a value outside its range."""

    code = "invalid_settings"


class RegistryBusy(VskillError):
    """The process has all the work or memory in use that it may have; in a moment it will have less."""

    code = "registry_busy"
    retryable = True


class AddressUnavailable(VskillError):
    """The process cannot listen where it was told to."""

    code = "address_unavailable"


class RegistryUnreachable(VskillError):
    """The process that owns the data folder does not answer on its control socket."""

    code = "registry_unreachable"
    retryable = True


class BindingUnavailable(VskillError):
    """Code asked for a binding outside a worker batch and outside a request."""

    code = "binding_unavailable"
