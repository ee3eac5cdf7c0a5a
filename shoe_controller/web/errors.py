"""The errors of the display.

WebError
├── PortError        the page cannot listen where it should (also OSError)
└── LanguageError    a language has no text file, or the file is not as it must be (also ValueError)
"""

from shoe_controller.errors import ControllerError


class WebError(ControllerError):
    """Something about the display that a person can be told in one sentence."""


class PortError(WebError, OSError):
    """The page cannot listen on its address and port."""


class LanguageError(WebError, ValueError):
    """A language cannot be shown."""
