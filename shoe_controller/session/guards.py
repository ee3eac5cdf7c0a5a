"""The guards that the rows of the machine name: each looks at what the session holds and changes nothing."""

from shoe_controller.machine.states import (
    BETTING,
    BETWEEN_ROUNDS,
    BURNING,
    DEALING,
    DECISION,
    IN_ROUND,
    SHOE_ENDED,
)
from shoe_controller.rules.games import load_all
from shoe_controller.session import inputs as i
from shoe_controller.session.holding import MISSING_FAULT, Holding


class Guards(Holding):
    """What may be asked of a table before a row is taken."""

    def leads_to(self, dest: str, _event: object = None) -> bool:
        """Tell whether the input leads to this state; worked out once, since a row for each state asks."""
        leads = self._leads
        if leads is None:
            leads = self._leads = self._where_it_leads()
        return leads == dest

    def _where_it_leads(self) -> str:
        """Return the state that the input leads to, or nothing if a row without a guard has to say it."""
        if isinstance(self._input, i.NoMoreBets):
            return self.round.place.state
        if isinstance(self._input, i.Void):
            return self._settled(self._base)
        plan_ = self._plan_now()
        if isinstance(self._input, i.DrawTogether):
            return "" if plan_.surplus else plan_.base
        return self._settled(plan_.base) if len(self._open) == 1 else ""

    def shoe_is_wrong(self, _event: object = None) -> bool:
        """Tell whether the shoe cannot be played: unknown game, wrong number of decks."""
        return bool(self._wrong_with_shoe())

    def burn_is_due(self, _event: object = None) -> bool:
        """Tell whether cards must be burned before the first round."""
        return bool(self._input.burn != "none")

    def in_fault(self, _event: object = None) -> bool:
        """Tell whether hardware is not fit for play."""
        return bool(self._faults)

    def cards_may_be_missing(self, _event: object = None) -> bool:
        """Tell whether cards may have left the shoe that are not in the record, and nobody has compared them yet."""
        return MISSING_FAULT in self._faults

    def shoe_cannot_deal(self, _event: object = None) -> bool:
        """Tell whether a card would be due from an empty shoe (5.5)."""
        shoe = self._shoe
        assert shoe is not None, "there is no shoe"
        return shoe.is_empty and self.round.place.state in DEALING

    def betting_is_open(self, _event: object = None) -> bool:
        """Tell whether wagers are taken."""
        return self.state == BETTING or (self.state == DECISION and self._base == BETTING)

    def last_round(self, _event: object = None) -> bool:
        """Tell whether the shoe ends when this round does, or has ended already."""
        shoe = self._shoe
        assert shoe is not None, "there is no shoe"
        return shoe.rounds_left == 0 or shoe.is_empty or self._shoe_reported

    def round_is_open(self, _event: object = None) -> bool:
        """Tell whether a decision interrupts a round that is not announced yet."""
        return self._base in IN_ROUND

    def last_round_stands(self, _event: object = None) -> bool:
        """Tell whether there is an announced round that could still become void."""
        return self._round is not None and self._round.status == "complete"

    def round_stands(self, _event: object = None) -> bool:
        """Tell whether a decision is about a round that could become void."""
        return self.round_is_open() or self.last_round_stands()

    def cut_was_seen(self, _event: object = None) -> bool:
        """Tell whether the cut card came out before."""
        return self.shoe.rounds_left is not None

    def cut_ends_shoe(self, _event: object = None) -> bool:
        """Tell whether no round may follow the cut card."""
        return self.shoe.load.rounds_after_cut == 0

    def burn_ends(self, _event: object = None) -> bool:
        """Tell whether the cards that come out now finish the burn."""
        if isinstance(self._input, i.DrawUnreadable):
            return self.shoe.burn_left <= 1
        return self.shoe.burn_left_after(self._codes()) == 0

    def burn_waits_for_first_card(self, _event: object = None) -> bool:
        """Tell whether the face of the card decides how many are burned."""
        return self.shoe.burn_waits_for_first_card

    def early_card_voids(self, _event: object = None) -> bool:
        """Tell whether the house voids a round for an early card."""
        return self.shoe.load.early_card == "void"

    def early_card_is_first(self, _event: object = None) -> bool:
        """Tell whether the house takes an early card as the round's next one; its order must be known."""
        return self.shoe.load.early_card == "first-card" and not self.order_is_unknown()

    def device_sees_another_hand(self, _event: object = None) -> bool:
        """Tell whether a shoe that follows the game says that the card is for another place."""
        target = self._input.target
        if not target or self.round.shoe_miscounts:
            return False
        side = self.round.due
        position = len(self.round.player if side == "player" else self.round.banker) + 1
        return bool(target != f"{side}{position}")

    def player_draws(self, _event: object = None) -> bool:
        """Tell whether the Player draws after this card (3.9)."""
        current = self._round
        assert current is not None, "there is no round"
        return current.due_after(self._input.code) == "player"

    def banker_draws(self, _event: object = None) -> bool:
        """Tell whether the Banker draws after this card (3.9)."""
        current = self._round
        assert current is not None, "there is no round"
        return current.due_after(self._input.code) == "banker"

    def order_is_unknown(self, _event: object = None) -> bool:
        """Tell whether cards came out together and nobody knows in which order (5.3)."""
        return isinstance(self._input, i.DrawTogether) and not self._input.order_known

    def reconstruction_is_wrong(self, _event: object = None) -> bool:
        """Tell whether the oldest decision cannot be reconstructed with these cards."""
        return bool(self._plan_now().wrong)

    def device_disagrees(self, _event: object = None) -> bool:
        """Tell whether the shoe's own result is another than ours."""
        return not self.device_agrees()

    def alarm_is_on(self, _event: object = None) -> bool:
        """Tell whether something is not acknowledged yet."""
        return self.alarm

    def device_agrees(self, _event: object = None) -> bool:
        """Tell whether the shoe's own result is ours."""
        outcome = self.round.outcome()
        says: i.DeviceSaysResult = self._input
        player, banker = self.round.player, self.round.banker
        return (
            outcome is not None
            and outcome.winner == says.winner
            and says.player_pair == (player[0][0] == player[1][0])
            and says.banker_pair == (banker[0][0] == banker[1][0])
        )

    def _settled(self, base: str) -> str:
        """Return where a table that comes back to `base` really goes: a shoe that cannot go on has ended."""
        if base in DEALING and self.shoe.is_empty:
            return SHOE_ENDED
        if base in (BURNING, *BETWEEN_ROUNDS) and self.last_round():
            return SHOE_ENDED
        return base

    def _wrong_with_shoe(self) -> str:
        load: i.LoadShoe = self._input
        rules = load_all().get(load.game)
        if rules is None:
            return f"there is no game {load.game!r}"
        if not rules.min_decks <= load.decks <= rules.max_decks:
            return f"{rules.title} is played with {rules.min_decks} to {rules.max_decks} decks, not {load.decks}"
        if isinstance(load.burn, int) and not 1 <= load.burn <= 8:
            return f"a fixed burn is 1 to 8 cards, not {load.burn}"
        return "" if load.rounds_after_cut >= 0 else "rounds_after_cut cannot be negative"
