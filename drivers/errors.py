"""The error tree of the drivers.

DriverError                anything a technician can be told in one sentence
├── DeviceGoneError        the shoe is not there, or was and is gone: worth another try
├── DeviceAddressError     the `device` setting cannot be understood: trying again does not help
└── PanelError             the dealer's panel cannot be used
    └── PinMapError        two functions on one pin, or a pin that does not exist
"""


class DriverError(Exception):
    """Something a technician can be told in one sentence; the text is that sentence."""


class DeviceGoneError(DriverError, ConnectionError):
    """The device is not there or has gone away, whichever library noticed and whatever it raised."""


class DeviceAddressError(DriverError, ValueError):
    """The device setting is not an address of any kind that we know."""


class PanelError(DriverError, RuntimeError):
    """The panel cannot be used: no pin factory, or one that stopped working."""


class PinMapError(PanelError, ValueError):
    """The pin map cannot be wired."""
