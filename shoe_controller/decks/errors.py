"""What can go wrong with registered decks.

DeckError                 anything about registered decks, in one sentence
├── SetNameError          a name that is no name, is taken, or is not known (also ValueError)
├── RegisterError         a line of a CSV file, or a reading of the shoe, that cannot be used (also ValueError)
├── IncompleteSetError    the cards are no complete set: the answer is no (also ValueError)
├── DeckFileError         a stored set is damaged (also ValueError)
└── DeckFolderError       the folder of the sets cannot be read or written (also OSError)
"""

from shoe_controller.errors import ControllerError


class DeckError(ControllerError):
    """Anything about registered decks; the text is a sentence."""


class SetNameError(DeckError, ValueError):
    """A name that cannot be used, is taken already, or is not known."""


class RegisterError(DeckError, ValueError):
    """The list of a set's cards cannot be read."""

    def __init__(self, sentence: str, *, begins_with_file: bool = False) -> None:
        super().__init__(sentence)
        self.begins_with_file = begins_with_file


class IncompleteSetError(DeckError, ValueError):
    """The cards are not a complete set. `problems` has one sentence each."""

    exit_code = 1

    def __init__(self, name: str, problems: tuple[str, ...]) -> None:
        super().__init__(f"the set {name} is not registered, it is not complete:\n  " + "\n  ".join(problems))
        self.problems = problems


class DeckFileError(DeckError, ValueError):
    """A stored set is not what was written."""


class DeckFolderError(DeckError, OSError):
    """The folder of the sets cannot be used."""
