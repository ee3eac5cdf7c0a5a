"""Which lamps are lit: a function of the table as it stands."""

from shoe_controller.session.view import TableView


def lit(view: TableView) -> frozenset[str]:
    """Return the names of the lamps that are lit, as the panel's configuration has them."""
    lamps: set[str] = set()
    shown = view.round
    if shown is not None and shown.announced and shown.winner is not None and not view.betting_open:
        lamps.add(shown.winner)
    if view.next is not None:
        lamps.add(f"next_{view.next}")
    if view.betting_open:
        lamps.add("betting")
    if view.alarm or view.open_irregularities:
        lamps.add("alarm")
    if view.faults:
        lamps.add("fault")
    return frozenset(lamps)
