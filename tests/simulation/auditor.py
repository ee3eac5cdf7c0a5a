"""The auditor: sees every committed entry once, in order, and holds it against what really happened.

It knows what left the shoe (the world tells it), keeps a table of its own that never crashed, and asks the referee
about every result and every cent.
"""

from collections import Counter, deque
from typing import NamedTuple

from firmware_protocol import events as e
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.holding import MISSING_FAULT
from shoe_controller.session.session import Session
from tests.simulation import referee

DEALING = ("deal_1", "deal_2", "deal_3", "deal_4", "player_third", "banker_third")
CARDS_DUE = (*DEALING, "burning", "decision")
DRAWS = (i.DrawCard, i.DrawUnreadable, i.DrawForeign, i.ReturnCard)
CARDS = (e.CardDrawn, e.CardsTogether, e.CardUnreadable, e.CardForeign, e.CardReturned)


def cents(text):
    whole, part = text.split(".")
    return int(whole) * 100 + int(part)


class Forgot(NamedTuple):
    """Among what left the shoe: here it lost its memory and began a new session."""

    session: int


class Heard:
    """Among what left a shoe that keeps nothing: from here on somebody listens to it again."""


def _is_draw(one):
    """Tell whether it is a card, of what a shoe that keeps nothing has said."""
    return not isinstance(one, Heard) and one[0] in DRAWS


class Auditor:
    """`breach` is called with a sentence for everything that is not as it must be."""

    def __init__(self, codes, breach):
        self._codes = codes  # id -> face of the cards in the shoe, from the world's own list
        self._breach = breach
        self.shadow = Session("table")  # a run without crashes
        self.left_shoe = deque()  # what happened at the shoe and is not in the journal yet
        self.inputs = []  # every input, for a script that shows what led to a breach
        self.next_seq = 1
        self.head = None  # what the next entry must carry as `prev`
        self.counts = Counter()
        self.irregularities = Counter()
        self._game = ""
        self._rounding = "half-up"
        self._shoe = ""
        self._round = 0
        self._revision = 0
        self._betting = False
        self._last_call = ""
        self._stakes = {}
        self._wager_ids = set()
        self._terminal_ids = set()
        self._cards = []  # drawn since "Place your bets"
        self._carried = False
        self._decks = 0
        self._faces = Counter()  # cards of this shoe that were dealt as they were drawn, by their face
        self._named = Counter()  # every face that anybody named: what a supervisor keys is counted too
        self._went_back = 0
        self._keeps_nothing = False  # it is a shoe that keeps nothing
        self._from_shoe = None  # what the shoe told last
        self._due_at_connect = False  # cards were due when the shoe was connected
        self._stopped = False  # since then the table was stopped, so that cards and record are compared
        self._must_stop = False  # with what is being committed the table must stop
        self._unheard = False  # a card left a shoe that keeps nothing while nobody listened
        self._compared = False  # somebody has answered for the cards that are not in the record of this round
        self._gap = False  # cards of this round are not in the record, and never will be

    # --- one entry --------------------------------------------------------------------------------------------------

    def entry(self, happened, facts, device):
        """Take the next entry of the journal."""
        self.inputs.append(happened)
        expected = self.shadow.handle(happened)
        if expected != list(facts):
            self._breach(f"entry {self.next_seq}: a run without crashes says {expected}, the daemon said {facts}")
        if device is not None:
            self._compare_with_shoe(happened, device)
        else:
            self._follow_gaps(happened)
        self._follow(happened, facts)
        self.next_seq += len(facts)

    def check_view(self, view, *, whole=True):
        """Compare the table as the daemon sees it with the one that never crashed, and the gate with the rules."""
        if self._must_stop:
            self._breach(f"after entry {self.next_seq - 1}: cards left the shoe unheard of, and nobody is told")
        if whole and view != self.shadow.view():
            self._breach(
                f"after entry {self.next_seq - 1}: the daemon sees {view}, without a crash {self.shadow.view()}"
            )
        due = None
        if view.state in DEALING and not view.faults:
            due = referee.who_is_next(view.round.player, view.round.banker)
        if view.next != due:
            self._breach(f"after entry {self.next_seq - 1}: {due} is due by the rules, {view.next} by the controller")
        if view.gate_open != (due is not None or (view.state == "burning" and not view.faults)):
            self._breach(f"after entry {self.next_seq - 1}: the gate is open={view.gate_open} and {due} is due")

    # --- what left the shoe -----------------------------------------------------------------------------------------

    def happened_at_shoe(self, happening):
        self.left_shoe.append(happening)

    def shoe_forgot(self, session):
        """The shoe has lost its memory. What it had not told yet it will never tell; it begins a new session."""
        self.counts["losses of the shoe's memory"] += 1
        self.left_shoe.append(Forgot(session))

    def nobody_heard(self):
        """The controller has died. What it had not recorded of a shoe that keeps nothing is gone."""
        self._unheard |= any(map(_is_draw, self.left_shoe))
        self.left_shoe.clear()

    def line_opened(self):
        """A shoe that keeps nothing is listened to again."""
        self._keeps_nothing = True
        self.left_shoe.append(Heard())

    def card_unrecorded(self):
        """Tell what a look at the table shows: does a card of this round lie there that will never be in the record?"""
        marks = [at for at, one in enumerate(self.left_shoe) if isinstance(one, Forgot)]
        forgotten = any(isinstance(one, CARDS) for one in list(self.left_shoe)[: marks[-1]]) if marks else False
        return self._gap or forgotten

    def _pass_what_was_forgotten(self, happened, session):
        """Forget what was not told when a new session begins; the first of it must be that the shoe started."""
        marks = [at for at, one in enumerate(self.left_shoe) if isinstance(one, Forgot) and one.session == session]
        if not marks:
            return
        forgotten = [self.left_shoe.popleft() for _ in range(marks[-1] + 1)]
        self.counts["events that the shoe forgot"] += sum(not isinstance(one, Forgot) for one in forgotten)
        due = self._due_at_connect and self.shadow.view().state in CARDS_DUE
        if due and any(isinstance(one, CARDS) for one in forgotten):
            self._cards_are_gone()
            if not self._stopped:
                self._breach(f"entry {self.next_seq}: the shoe forgot {forgotten} of a deal, and nobody is told")
        if not isinstance(happened, i.NoteDevice) or happened.event != "started":
            self._breach(f"entry {self.next_seq}: the shoe lost its memory, and the first of it is {happened}")

    def _follow_gaps(self, happened):
        """See to it that a deal stops when cards of it are gone, and goes on only when somebody has said so."""
        if isinstance(happened, i.ClearFault) and happened.fault == MISSING_FAULT:
            self._breach(f"entry {self.next_seq}: cards may be missing, and it goes on without anybody")
        self._compared |= isinstance(happened, i.Acknowledge)
        if isinstance(happened, i.RaiseFault) and happened.fault == MISSING_FAULT:
            self._stopped, self._must_stop, self._compared = True, False, False
        elif isinstance(happened, i.NoteDevice) and happened.event == "connected":
            self._due_at_connect, self._stopped = self.shadow.view().state in CARDS_DUE, False
            self._pass_what_nobody_heard()

    def _pass_what_nobody_heard(self):
        mark = next((at for at, one in enumerate(self.left_shoe) if isinstance(one, Heard)), None)
        if mark is not None:
            unheard = [self.left_shoe.popleft() for _ in range(mark + 1)]
            self._unheard |= any(map(_is_draw, unheard))
        if self._unheard and self._due_at_connect:
            self._cards_are_gone()
            self._must_stop = True
        self._unheard = False

    def _cards_are_gone(self):
        self.counts["deals stopped for cards that nobody heard of"] += 1
        self._gap = True

    def _compare_with_shoe(self, happened, device):
        if self.counts["losses of the shoe's memory"]:
            self._pass_what_was_forgotten(happened, device[0])
        if isinstance(happened, i.NoteDevice):
            return  # the device started: nothing that left the shoe
        if self._one_more_error_is_over(happened):
            return
        if not self.left_shoe:
            self._breach(f"entry {self.next_seq}: the journal has {happened}, which never happened at the shoe")
            return
        really = self.left_shoe.popleft()
        self.counts["device events"] += 1
        if isinstance(really, tuple):
            kind, code = really
            if not isinstance(happened, kind) or (code is not None and happened.code != code):
                self._breach(f"entry {self.next_seq}: at the shoe {really} happened, the journal has {happened}")
            return
        expected = self._as_input(really)
        if happened != expected and not self._excused(happened, expected):
            self._breach(f"entry {self.next_seq}: at the shoe {expected} happened, the journal has {happened}")

    def _one_more_error_is_over(self, happened):
        """Tell whether with one word of an Angel Eye another error ended too; it has no error any more then."""
        before, self._from_shoe = self._from_shoe, type(happened)
        if not self._keeps_nothing or before is not i.ClearFault or self._from_shoe is not i.ClearFault:
            return False
        return not self.left_shoe or isinstance(self.left_shoe[0], Heard) or self.left_shoe[0][0] is not i.ClearFault

    def _as_input(self, really):
        match really:
            case e.CardDrawn(card):
                code = self._codes.get(card.uid)
                if code is not None:
                    return i.DrawCard(code=code, uid=card.uid.hex().upper())
                return i.DrawForeign(uid=card.uid.hex().upper())
            case e.CardsTogether(cards, order_known):
                return i.DrawTogether(
                    codes=tuple(self._codes[card.uid] for card in cards),
                    order_known=order_known,
                    uids=tuple(card.uid.hex().upper() for card in cards),
                )
            case e.CardReturned(None):
                return i.ReturnCard()
            case e.CardReturned(card):
                return i.ReturnCard(code=self._codes[card.uid], uid=card.uid.hex().upper())
            case e.CardUnreadable():
                return i.DrawUnreadable()
            case e.CardForeign(uid):
                return i.DrawForeign(uid=uid.hex().upper())
            case e.CutCardSeen():
                return i.CutCard()
            case e.ShoeEmptied():
                return i.ShoeEmpty()
            case e.LidMoved(is_open):
                return i.RaiseFault(fault="lid", detail="the lid is open") if is_open else i.ClearFault(fault="lid")
            case e.FaultChanged(fault, active):
                return i.RaiseFault(fault=str(fault)) if active else i.ClearFault(fault=str(fault))
        raise AssertionError(really)

    def _excused(self, happened, expected):
        """The controller may say in its own words why a card is foreign."""
        return (
            isinstance(happened, i.DrawForeign) and isinstance(expected, i.DrawForeign) and happened.uid == expected.uid
        )

    # --- the game ---------------------------------------------------------------------------------------------------

    def _follow(self, happened, facts):
        self._named.update(getattr(happened, "codes", ()) or filter(None, [getattr(happened, "code", "")]))
        if isinstance(happened, i.DrawCard):
            self._cards.append(happened.code)
            self._count_face(happened.code, facts)
        elif isinstance(happened, i.ReturnCard):
            self._went_back += 1
        elif isinstance(happened, i.PlaceWager | i.WithdrawWager):
            self._wager(happened, facts)
        for at, fact in enumerate(facts):
            kind = type(fact)
            if kind is f.Round:
                self._round_told(happened, fact, [one for one in facts[at + 1 :] if type(one) is f.Settlement])
            elif kind is f.BettingOpened:
                self._betting_opened(fact)
            elif kind is f.BettingClosed:
                self._betting = False
                self._last_call = "close"
            elif kind is f.Irregularity:
                self.irregularities[fact.kind] += 1
            elif kind is f.ShoeLoaded:
                self._shoe_loaded(happened, fact)
            elif kind is f.CardDealt and fact.carried:
                self._carried = True
            elif kind is f.Settlement and not any(type(one) is f.Round for one in facts[:at]):
                self._breach(f"entry {self.next_seq}: a settlement without a round: {fact}")
            elif kind is f.Refused:
                self.counts["refusals"] += 1

    def _count_face(self, code, facts):
        """A face that comes more often than there are decks is one too many, and nothing else is called so."""
        if any(type(fact) is f.Irregularity and fact.kind == "over_count" for fact in facts):
            if self._named[code] <= self._decks:
                self._breach(f"entry {self.next_seq}: {code} came {self._named[code]} times and is called one too many")
        elif any(type(fact) is f.CardDealt for fact in facts):
            self._faces[code] += 1
            if self._faces[code] - self._went_back > self._decks:
                self._breach(f"entry {self.next_seq}: {code} was dealt {self._faces[code]} times, and nobody says so")

    def _shoe_loaded(self, load, loaded):
        self._decks, self._went_back = load.decks, 0
        self._faces.clear()
        self._named.clear()
        self._game, self._rounding = loaded.game, load.rounding
        self._shoe, self._round, self._revision = loaded.shoe, 0, 0
        self._betting, self._last_call = False, ""
        self._wager_ids = set()
        self._stakes = {}
        self.counts["shoes"] += 1

    def _betting_opened(self, opened):
        if opened.round != self._round + 1:
            self._breach(f"round {opened.round} of shoe {opened.shoe} follows round {self._round}")
        self._round, self._revision = opened.round, 0
        self._betting, self._last_call = True, "bets"
        self._stakes = {}
        self._cards = []
        self._carried = self._gap = self._compared = False
        self.counts["rounds begun"] += 1

    def _round_told(self, happened, told, settlements):
        where = f"entry {self.next_seq}, shoe {told.shoe}, round {told.round}"
        if told.shoe != self._shoe or told.round != self._round:
            self._breach(f"{where}: it changes after the next began (round {self._round} of shoe {self._shoe})")
        if told.revision != self._revision + 1:
            self._breach(f"{where}: revision {told.revision} follows {self._revision}")
        if told.status == "complete" and self._revision:
            self._breach(f"{where}: a result was told again")
        self._revision = told.revision
        self._betting = False
        self.counts["rounds told"] += 1
        if told.status == "void":
            self.counts["void rounds"] += 1
            if told.void_rule is None and not told.irregularities and not isinstance(happened, i.Void):
                self._breach(f"{where}: it is void and nothing says why: {told}")
            self._void_told(where, told, settlements)
        else:
            self._result_told(where, told, settlements)

    def _void_told(self, where, told, settlements):
        if told.winner is not None or told.pays or told.pushes:
            self._breach(f"{where}: void, and yet it has a result: {told}")
        self._compare_money(where, settlements, {key: ("refund", stake) for key, stake in self._stakes.items()})

    def _result_told(self, where, told, settlements):
        player, banker = list(told.player), list(told.banker)
        in_turn = [card for pair in zip(player[:2], banker[:2], strict=False) for card in pair]
        if referee.deal([*in_turn, *player[2:], *banker[2:]]) != (player, banker, []):
            self._breach(f"{where}: no deal by the rules gives {player} and {banker}")
        if referee.who_is_next(player, banker) is not None:
            self._breach(f"{where}: announced while a card was due: {player} and {banker}")
        if self._gap:
            self.counts["results although a card is missing, by a supervisor's word"] += 1
            if not self._compared:
                self._breach(f"{where}: cards of it are not in the record, and nobody has answered for that")
        if not told.irregularities and not told.keyed and not self._carried:
            if referee.deal(self._cards) != (player, banker, []):
                self._breach(f"{where}: the shoe gave {self._cards}, the round has {player} and {banker}")
            self.counts["clean rounds"] += 1
        won = referee.winner(player, banker)
        natural = max(referee.points(player[:2]), referee.points(banker[:2])) >= 8
        totals = referee.points(player), referee.points(banker)
        if (told.winner, told.natural, told.player_total, told.banker_total) != (won, natural, *totals):
            self._breach(f"{where}: the referee says {won} {totals}, natural={natural}; told was {told}")
        pays, pushes = {}, []
        for wager in referee.wagers(self._game):
            odds = referee.odds(self._game, wager, player, banker)
            if odds == "push":
                pushes.append(wager)
            elif odds is not None:
                pays[wager] = f"{odds[0]}:{odds[1]}"
        prize = referee.bonus(self._game, "tie", player, banker)
        if prize:
            pays["tie_bonus"] = f"+{prize}"
        if dict(told.pays) != pays or sorted(told.pushes) != sorted(pushes):
            self._breach(f"{where}: the referee pays {pays} and pushes {pushes}, told was {told}")
        due = {
            (who, wager): referee.settle(self._game, wager, stake, player, banker, self._rounding)
            for (who, wager), stake in self._stakes.items()
        }
        self._compare_money(where, settlements, due)

    def _compare_money(self, where, settlements, due):
        paid = {(one.who, one.wager): (one.outcome, cents(one.paid)) for one in settlements}
        stakes = {(one.who, one.wager): cents(one.stake) for one in settlements}
        if len(paid) != len(settlements) or paid != due or stakes != self._stakes:
            self._breach(f"{where}: the referee hands back {due}, the controller {paid}")
        self.counts["settlements"] += len(settlements)
        self.counts["cents handed back"] += sum(amount for _, amount in paid.values())

    def _wager(self, happened, facts):
        answer = facts[-1]
        key = happened.who, happened.wager
        stake = self._stakes.get(key, 0)
        repeated = bool(happened.id) and happened.id in self._wager_ids
        self._wager_ids.add(happened.id)
        if isinstance(happened, i.PlaceWager):
            fine = self._betting and happened.wager in referee.wagers(self._game)
            left, rule = stake + happened.amount, "5.6"
        else:
            amount = stake if happened.amount is None else happened.amount
            fine = self._betting and 0 < amount <= stake
            left, rule = stake - amount, "5.7"
        if happened.id.startswith("t"):  # from a terminal: its ids are its own, and each is booked once, for ever
            if happened.id in self._terminal_ids:
                self._breach(f"entry {self.next_seq}: {happened} was handed to the table before")
            self._terminal_ids.add(happened.id)
        if repeated:
            self.counts["repeated wagers"] += 1
            return  # answered as before and not booked again; the stakes say so at the end of the round
        if type(answer) is not f.Wager or answer.accepted != fine:
            self._breach(f"entry {self.next_seq}: {happened} must be {'accepted' if fine else 'refused'}, not {answer}")
        elif fine:
            self.counts["wagers"] += 1
            if left:
                self._stakes[key] = left
            else:
                del self._stakes[key]
        elif answer.rule != (rule if self._last_call == "close" and not self._betting else None):
            self._breach(f"entry {self.next_seq}: {happened} was refused by {answer.rule}, last call {self._last_call}")
