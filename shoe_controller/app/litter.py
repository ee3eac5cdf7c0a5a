"""Python's garbage collection, moved to moments in which no card is on its way."""

import gc

# Objects until Python collects by itself after all: a table that never rests for a second.
UNTIL_ANYWAY = 20_000


class Litter:
    """For a process that is one table and nothing else: what it does here concerns the whole of it."""

    def __init__(self) -> None:
        self._seq = -1
        self._clean = -1

    def begin(self) -> None:
        """Set aside for good what the start has made; from here on collect rarely."""
        gc.collect()
        gc.freeze()
        gc.set_threshold(UNTIL_ANYWAY, *gc.get_threshold()[1:])

    def look(self, seq: int) -> None:
        """Collect once if nothing was committed since the last look; `seq` is that of the newest fact."""
        if seq == self._seq != self._clean:
            gc.collect()
            self._clean = seq
        self._seq = seq
