"""Errors of the simulated shoe.

DriverError
└── SimulatedShoeError
├── OrderError (ValueError)         a setting or command that cannot be understood
└── CannotDoError (RuntimeError)    understood, but a shoe in this state, or of this kind, cannot do it
"""

from drivers.errors import DriverError


class SimulatedShoeError(DriverError):
    """Something that the person at the simulated shoe can be told in one sentence."""


class OrderError(SimulatedShoeError, ValueError):
    """A setting, a fault or a command that cannot be understood."""


class CannotDoError(SimulatedShoeError, RuntimeError):
    """The shoe cannot do this now, or this kind of shoe never can."""
