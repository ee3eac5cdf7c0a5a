"""The error tree of the feeds.

FeedError                     anything an integrator can be told in one sentence
├── BrokerError               a broker could not be reached, refused us or was lost: worth another try
│   ├── OtherVersionError     it does not speak the version of MQTT that was tried: try the other
│   └── TakenOverError        another client with our name was let in instead: two tables with one name?
├── FeedSettingsError         a setting or a file named by one cannot be used: a person must mend it
└── ReceiverGoneError         the receiver on the serial line is not there, or was and is gone
"""

from shoe_controller.errors import ControllerError


class FeedError(ControllerError):
    """Something an integrator can be told in one sentence; the text is that sentence."""


class BrokerError(FeedError, ConnectionError):
    """A broker could not be reached, refused us, or the connection to it was lost."""


class OtherVersionError(BrokerError):
    """The broker does not speak this version of MQTT."""


class TakenOverError(BrokerError):
    """The broker let another client in under our client id."""


class FeedSettingsError(FeedError, ValueError):
    """A setting, or a file that it names, cannot be used; mended files are seen at the next try."""


class ReceiverGoneError(FeedError, ConnectionError):
    """The receiver on the serial line is not there or has gone away."""
