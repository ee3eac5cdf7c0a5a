"""What a press on the panel means at the table."""

from collections.abc import Callable

from drivers.panel.functions import Button, Ignored, KeyTurned, PanelEvent, Pressed, Stuck
from shoe_controller.session import inputs as i
from shoe_controller.session.view import TableView

BY_KEY = "key-switch"


def from_panel(event: PanelEvent, view: TableView, new_shoe: Callable[[str], i.LoadShoe]) -> i.AnyInput:
    """Return the input that an event of the panel is."""
    match event:
        case Pressed():
            return _pressed(event.button, view, new_shoe)
        case Ignored():
            return i.NoteDevice(event="press-ignored", detail=f"{' and '.join(event.buttons)}: {event.doubt}")
        case KeyTurned():
            return i.NoteDevice(event="key-switch", detail="on" if event.on else "off")
        case Stuck():
            return i.NoteDevice(event="button-stuck", detail=" and ".join(event.buttons))


def _pressed(button: Button, view: TableView, new_shoe: Callable[[str], i.LoadShoe]) -> i.AnyInput:
    match button:
        case Button.PLACE_BETS:
            return i.PlaceBets()
        case Button.NO_MORE_BETS:
            return i.NoMoreBets()
        case Button.RESULT:
            return i.AnnounceResult()
        case Button.VOID:
            return i.Void(by=BY_KEY)
        case Button.ACKNOWLEDGE:
            return i.Acknowledge(by=BY_KEY)
        case Button.ACCEPT:
            # With no shoe in play there is nothing to reconstruct: the supervisor accepts the next shoe.
            if view.shoe is None or view.state == "shoe_ended":
                return new_shoe("")
            return i.Reconstruct(by=BY_KEY)
