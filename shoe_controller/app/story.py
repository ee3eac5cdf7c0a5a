"""What the log says of a table: every fact a line, so that a technician can follow a round."""

import logging
from collections.abc import Iterable

from shoe_controller.logs import fields
from shoe_controller.session import facts as f
from shoe_controller.words import tell

logger = logging.getLogger("shoe_controller.table")

_LOUD = (f.Irregularity, f.Refused)
_QUIET = (f.Wager, f.Settlement)


def log_facts(seq: int, facts: Iterable[f.AnyFact]) -> None:
    """Log facts that are on disk now; `seq` is the number of the first."""
    for number, fact in enumerate(facts, seq):
        level = _level(fact)
        if logger.isEnabledFor(level):
            logger.log(level, "%s", " ".join(tell(fact).split()), extra=fields(seq=number))


def _level(fact: f.AnyFact) -> int:
    if isinstance(fact, _LOUD) or (isinstance(fact, f.Fault) and fact.active):
        return logging.WARNING
    return logging.DEBUG if isinstance(fact, _QUIET) else logging.INFO
