"""Trying again: how long to wait, and how loudly to say that it failed."""

import logging
import random


class Backoff:
    """Waits that double from `least` to `most`, each shortened by chance.

    By chance, so that a thousand tables that lost one broker do not come back in the same instant.
    """

    def __init__(self, least: float, most: float) -> None:
        self._least = least
        self._most = most
        self._next = least

    def wait(self) -> float:
        """Return the seconds to wait now."""
        now, self._next = self._next, min(self._next * 2, self._most)
        return now * random.uniform(0.5, 1.0)  # noqa: S311  (spreads load, guards nothing)

    def reset(self) -> None:
        """Begin with short waits again: it worked."""
        self._next = self._least


class Complaint:
    """Says a failure once as a WARNING, its repetitions as DEBUG, another failure as a WARNING again."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._said: str | None = None
        self._times = 0

    def fail(self, sentence: str) -> None:
        """Tell of a failure."""
        self._times += 1
        self._logger.log(logging.DEBUG if sentence == self._said else logging.WARNING, "%s", sentence)
        self._said = sentence

    def mend(self, sentence: str) -> None:
        """Tell that it works (again)."""
        tries = f" after {self._times} failed tries" if self._times > 1 else ""
        self._logger.info("%s%s", sentence, tries)
        self._said = None
        self._times = 0
