"""The machine drawn for the docs: `python -m shoe_controller.machine.diagram` prints docs/state-machine.md."""

from shoe_controller.machine.rows import ROWS, TRIGGERS
from shoe_controller.machine.states import STATES

_HEAD = """\
# The state machine of a table

Made from the table of transitions by `make diagram`; a test keeps it current. Dealing states are named by the card
that is due. A row that changes no state (a refusal, a note, a wager) is not drawn; the table below has them all.

```mermaid
stateDiagram-v2
    [*] --> no_shoe
"""


def diagram() -> str:
    """Return the document: a drawing of what changes the state, and the whole table."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for row in ROWS:
        if row.dest is not None:
            triggers = arrows.setdefault((row.source, row.dest), [])
            if row.trigger not in triggers:
                triggers.append(row.trigger)
    lines = [f"    {source} --> {dest}: {', '.join(triggers)}" for (source, dest), triggers in arrows.items()]
    return _HEAD + "\n".join(lines) + "\n```\n\n" + _table()


def _table() -> str:
    lines = [
        "Rows of one state and trigger are tried from the top; the last has no condition.",
        "",
        "| state | trigger | if | then | state after |",
        "|---|---|---|---|---|",
    ]
    for state in STATES:
        for trigger in TRIGGERS:
            for row in ROWS:
                if (row.source, row.trigger) == (state, trigger):
                    then = f"refused: {row.reason}" if row.reason else row.do.replace("_", " ")
                    condition = (row.when or "").replace("_", " ")
                    lines.append(f"| {state} | {trigger} | {condition} | {then} | {row.dest or state} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(diagram(), end="")
