"""Facts in words that a pit manager can read."""

from collections.abc import Callable, Iterable

from shoe_controller.cards import is_code, symbol
from shoe_controller.session import facts as f

KIND_WORDS: dict[str, str] = {
    "foreign_card": "a foreign card",
    "duplicate_card": "a card that was drawn before in this shoe",
    "over_count": "one copy of a card too many",
    "wrong_number": "a wrong number of cards",
    "simultaneous_draw": "cards drawn together",
    "order_altered": "the order of the cards was altered",
    "shoe_exhausted": "not enough cards in the shoe",
    "late_wager": 'a wager after "No more bets"',
    "late_withdrawal": 'a withdrawal after "No more bets"',
    "early_draw": 'a card before "No more bets"',
    "unreadable_card": "a card that could not be read",
    "device_disagrees": "the shoe disagrees with the rules",
}
_ACTION_WORDS = {"place": ("places", "on"), "increase": ("adds", "to"), "withdraw": ("withdraws", "from")}
_EFFECT_WORDS = {
    "void": "the round is void",
    "decision": "waits for a supervisor",
    "noted": "noted, play goes on",
    "refused": "refused",
}


def cards(codes: Iterable[str]) -> str:
    """Return cards as people write them, `–` for none."""
    return " ".join(symbol(code) if is_code(code) else code for code in codes) or "–"


def plain(text: str) -> str:
    """Return text from outside so that it can do nothing to a terminal: neither move about in it nor break a line."""
    return (
        text
        if text.isprintable()
        else "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    )


def wager_name(wager: str) -> str:
    """Return a wager as people say it: `element bonus`."""
    return plain(wager.replace("_", " "))


def tell(fact: f.AnyFact) -> str:
    """Return a fact as one line, or a few, for people."""
    return _TELLERS[type(fact)](fact)


def _round(fact: f.Round) -> str:
    revision = f" (revision {fact.revision})" if fact.revision > 1 else ""
    head = f"Round {fact.round}{revision}: "
    hands = f"Player {cards(fact.player)}"
    if fact.player_total is not None:
        hands += f" = {fact.player_total}"
    hands += f"   Banker {cards(fact.banker)}"
    if fact.banker_total is not None:
        hands += f" = {fact.banker_total}"
    if fact.status == "void":
        why = f" under rule {fact.void_rule}" if fact.void_rule else ""
        reason = f" ({plain(fact.void_reason)})" if fact.void_reason else ""
        beside = f"   beside: {cards(fact.unassigned)}" if fact.unassigned else ""
        return f"{head}VOID{why}{reason}   {hands}{beside}"
    result = "TIE" if fact.winner == "tie" else f"{str(fact.winner).upper()} wins"
    natural = ", natural" if fact.natural else ""
    pays = ", ".join(f"{wager_name(wager)} {odds}" for wager, odds in fact.pays.items())
    noted = "".join(f"\n         noted: {KIND_WORDS[kind]}" for kind in fact.irregularities)
    pushed = f"   pushed: {', '.join(fact.pushes)}" if fact.pushes else ""
    return f"{head}{result}{natural}   {hands}\n         pays: {pays}{pushed}{noted}"


def _irregularity(fact: f.Irregularity) -> str:
    rule = f"rule {fact.rule}" if fact.rule else "no clause"
    where = f"Round {fact.round}" if fact.round else "Before the first round"
    shown = f" [{cards(fact.cards)}]" if fact.cards else ""
    waits = f": {fact.waits_for}" if fact.waits_for else ""
    detail = f" ({plain(fact.detail)})" if fact.detail else ""
    return f"! {where}: {KIND_WORDS[fact.kind]}{shown}{detail} – {rule}, {_EFFECT_WORDS[fact.effect]}{waits}"


def _wager(fact: f.Wager) -> str:
    answer = "accepted" if fact.accepted else "refused" + (f" under rule {fact.rule}" if fact.rule else "")
    reason = f" ({plain(fact.reason)})" if fact.reason else ""
    does, where = _ACTION_WORDS[fact.action]
    return f"  wager {answer}: {plain(fact.who)} {does} {fact.amount} {where} {wager_name(fact.wager)}{reason}"


def _settlement(fact: f.Settlement) -> str:
    odds = f" at {fact.odds}" if fact.odds else ""
    odds += f" and a bonus of {fact.bonus}" if fact.bonus else ""
    return f"  {plain(fact.who)}: {wager_name(fact.wager)} {fact.stake}{odds} – {fact.outcome}, paid {fact.paid}"


def _shoe(fact: f.ShoeEnded) -> str:
    missing, extra = sum(fact.missing.values()), sum(fact.extra.values())
    odd = f", extra: {', '.join(f'{count} x {face}' for face, count in fact.extra.items())}" if extra else ""
    blind = f", {fact.unreadable} not read" if fact.unreadable else ""
    by = f" ({fact.ended_by})" if fact.ended_by else ""
    played = f"{_number(fact.rounds, 'round')}, {_number(fact.cards, 'card')}"
    return f"Shoe {plain(fact.id)} ended{by}: {played}, {missing} not seen{odd}{blind}"


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _refused(fact: f.Refused) -> str:
    shown = f" {cards(fact.detail.split())}" if fact.detail else ""
    return f"x {fact.command}{shown} refused: {plain(fact.reason)}"


def _card(fact: f.CardDealt) -> str:
    keyed = " (keyed)" if fact.keyed else ""
    if fact.hand is None:
        return f"  {cards((fact.card,))}{keyed} – {fact.place}"
    total = fact.player_total if fact.hand == "player" else fact.banker_total
    due = f"next: {fact.next}" if fact.next else "complete"
    return f"  {fact.hand} {cards((fact.card,))}{keyed} = {total}, {due}"


def _fault(fact: f.Fault) -> str:
    return plain(f"! fault {fact.fault} {'began' if fact.active else 'ended'} {fact.detail}".rstrip())


_TELLERS: dict[type, Callable[..., str]] = {
    f.Round: _round,
    f.Irregularity: _irregularity,
    f.Wager: _wager,
    f.Settlement: _settlement,
    f.ShoeEnded: _shoe,
    f.CardDealt: _card,
    f.Refused: _refused,
    f.ShoeLoaded: lambda fact: (
        f"Shoe {plain(fact.shoe)}: {fact.title}, {fact.decks} decks, rules {fact.rules_hash[:12]}"
    ),
    f.Burned: lambda fact: f"  burned {cards((fact.card,) if fact.card else ())}, {fact.left} to go",
    f.BettingOpened: lambda fact: f"Round {fact.round}: place your bets",
    f.BettingClosed: lambda fact: f"Round {fact.round}: no more bets",
    f.Resolved: lambda fact: f"  resolved: {fact.how} {cards(fact.cards) if fact.cards else ''}".rstrip(),
    f.Acknowledged: lambda _: "  alarm acknowledged",
    f.CutCardSeen: lambda fact: f"Cut card: {_number(fact.rounds_left, 'round')} more to begin",
    f.Fault: _fault,
    f.Device: lambda fact: plain(f"  shoe: {fact.event} {fact.detail}".rstrip()),
    f.Started: lambda fact: plain(f"Controller {fact.version} started"),
    f.ConfigChanged: lambda fact: plain(f"Configuration changed: {', '.join(fact.changed)}"),
    f.ClockStepped: lambda fact: f"Clock {'synchronised' if fact.synced else 'not synchronised'}",
}
