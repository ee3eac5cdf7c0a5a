"""Errors of the shoe protocols.

    FirmwareProtocolError
    +-- MessageError (ValueError)      a value that cannot be put on the wire, or bytes that are not a message
    +-- SettingError (ValueError)      a link cannot be made with these settings (key missing or too short, no room)

Nothing that arrives on the wire makes a decoder or a link raise: they count it and go on.
"""


class FirmwareProtocolError(Exception):
    """Root of the errors of this package."""


class MessageError(FirmwareProtocolError, ValueError):
    """A value has no form on the wire, or bytes are not the message that they claim to be."""


class SettingError(FirmwareProtocolError, ValueError):
    """A link cannot be made with these settings: a key is missing or too short, or there is no room for events."""
