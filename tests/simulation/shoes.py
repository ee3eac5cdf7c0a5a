"""The shoes of a world: the simulated shoes of the product, and the world is told first what happens at them."""

from random import Random

from drivers.simulated.angel_eye_device import AngelEyeOptions
from drivers.simulated.angel_eye_twin import AngelEyeTwin
from drivers.simulated.body import ShoeBody
from drivers.simulated.open_device import OpenOptions
from drivers.simulated.open_twin import OpenTwin
from firmware_protocol import angel_eye_messages as a
from shoe_controller.session import inputs as i

# What an error of an Angel Eye means for the cards, before it is a fault of the shoe.
_ABOUT_A_CARD = {1: i.DrawUnreadable, 4: i.ReturnCard, 6: i.DrawForeign}


class WorldShoe(OpenTwin):
    """A shoe of the open protocol. It keeps what it has to tell until the controller has it on disk."""

    mishaps = (
        "together known",
        "together unknown",
        "pushback",
        "pushback unseen",
        "unreadable",
        "foreign",
        "foreign refused",
        "duplicate",
        "jam on",
        "lid open",
        "reboot",
        "reboot forget",
        "sensor on",
        "cut",
        "empty",
    )
    keeps = True
    follows_a_game = False
    on_report = None
    on_forget = None

    def reboot(self, now, *, keep):
        super().reboot(now, keep=keep)
        if not keep and self.on_forget is not None:
            self.on_forget(self.link.memory.session)

    def report(self, happening, now):
        if self.on_report is not None:
            self.on_report(happening)
        super().report(happening, now)

    @property
    def untold(self):
        """How many events it keeps for the controller."""
        return len(self.link.memory)

    def mendings(self):
        """What a person does at the shoe to end its trouble."""
        if self.body.jammed:
            return ["jam off"]
        return ["lid close"] * self.body.lid_open + [f"{fault} off" for fault in sorted(self.faults)]


class WorldAngelEye(AngelEyeTwin):
    """A shoe that follows the game itself and keeps nothing: what is said while nobody listens is gone."""

    mishaps = (
        "together known",
        "pushback",
        "unreadable",
        "foreign",
        "duplicate",
        "jam on",
        "button",
        "wrong-result",
        "cut",
    )
    keeps = False
    on_report = None
    untold = 0

    @property
    def follows_a_game(self):
        """Whether it is in the middle of one."""
        return self.game.begun and not self.result_told

    def say(self, message):
        if self.on_report is not None:
            for said in _as_inputs(message):
                self.on_report(said)
        super().say(message)

    def mendings(self):
        return ["clear discard"]


def _as_inputs(message):
    """Say what the journal must have of a message: kinds of input, and the card where there is one."""
    match message:
        case a.GameCard(_, _, card) | a.OutsideCard(_, card):
            yield (i.DrawCard, f"{card.rank}{card.suit}")
        case a.CuttingCard():
            yield (i.CutCard, None)
        case a.GameResult():
            yield (i.DeviceSaysResult, None)
        case a.ErrorChanged(code, active):
            if active and code in _ABOUT_A_CARD:
                yield (_ABOUT_A_CARD[code], None)
            yield (i.RaiseFault if active else i.ClearFault, None)


def make_shoe(plan, stock, key, source):
    """Make the shoe of a plan. `source` gives the chance for a matter."""
    body = ShoeBody(stock, source("shuffle"), cut_card=plan.cut_card or None)
    device: Random = source("device")
    if plan.protocol == "angel-eye":
        # Nobody knows its cards by their ids: a set may have too many of one face, and only counting shows it.
        body = ShoeBody([*stock, *stock[:1] * plan.too_many], source("shuffle"), cut_card=plan.cut_card or None)
        return WorldAngelEye(body, device, AngelEyeOptions())
    return WorldShoe(body, device, OpenOptions(key=key, require_auth=plan.key))
