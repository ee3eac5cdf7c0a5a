"""The table script: one thing that happened at the table per line, in words that a person can write.

`parse_line` turns a line into an input, `to_line` an input into a line. `#` starts a comment.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from shoe_controller.cards import is_code
from shoe_controller.errors import UsageError
from shoe_controller.money import dollars, parse_amount
from shoe_controller.rules.games import find
from shoe_controller.session import inputs as i


class ScriptError(UsageError):
    """A line of a table script is not understood; `replay` puts file and line before it."""

    begins_with_file = True


_HEX = re.compile(r"[0-9a-fA-F]{1,64}")
LONGEST_NAME = 64
SHORT = 12


def parse_line(line: str) -> i.AnyInput | None:
    """Return what a line says, None if it says nothing, or raise ScriptError."""
    return _parse_known(line) if len(line) <= SHORT else _parse(line)


@lru_cache(maxsize=1024)
def _parse_known(line: str) -> i.AnyInput | None:
    """Parse a line that comes again and again: `card 4d`, `bets`."""
    return _parse(line)


def _parse(line: str) -> i.AnyInput | None:
    words = line.partition("#")[0].split()
    if not words:
        return None
    parser = _PARSERS.get(words[0])
    if parser is None:
        raise ScriptError(f"{_shown(words[0])} is not a thing that happens at a table")
    try:
        return parser(words[1:])
    except ScriptError:
        raise
    except UsageError as error:
        raise ScriptError(str(error)) from error
    except ValueError as error:
        raise ScriptError(f"{words[0]}: {error}") from error


def to_line(happened: i.AnyInput) -> str | None:
    """Return the line of a script that says what happened, None for what has no place in a script."""
    writer = _WRITERS.get(type(happened))
    return writer(happened) if writer else None


def _shown(word: str) -> str:
    """Return a word as a message shows it: in quotes, nothing unprintable in it, and not a page of it."""
    return repr(word if len(word) <= LONGEST_NAME else word[:LONGEST_NAME] + "…")


def _options(words: list[str], allowed: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Split words into plain ones and name=value options."""
    plain: list[str] = []
    options: dict[str, str] = {}
    for word in words:
        name, is_option, value = word.partition("=")
        if not is_option:
            plain.append(word)
            continue
        if name not in allowed:
            raise ValueError(f"there is no option {_shown(name)}; there are {', '.join(allowed)}")
        if name in options:
            raise ValueError(f"the option {name}= is there twice")
        options[name] = value
    return plain, options


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{name}= must be {' or '.join(allowed)}, not {_shown(value)}")
    return value


def _number(name: str, value: str) -> int:
    if not re.fullmatch(r"\d{1,6}", value, re.ASCII):
        raise ValueError(f"{name}= must be a number, not {_shown(value)}")
    return int(value)


def _burn(value: str) -> i.Burn:
    if re.fullmatch(r"[1-8]", value, re.ASCII):
        return int(value)
    if value not in ("none", "first-card", "decks"):
        raise ValueError(f"burn= must be none or first-card or decks or 1-8, not {_shown(value)}")
    return value  # type: ignore[return-value]


def _shoe(words: list[str]) -> i.LoadShoe:
    allowed = ("decks", "id", "burn", "surplus", "rounds_after_cut", "early", "rounding", "set")
    plain, options = _options(words, allowed)
    if len(plain) != 1:
        raise ValueError("it takes one game, as in: shoe no-commission decks=8")
    rules = find(plain[0])
    if "decks" not in options:
        raise ValueError("decks= is missing")
    decks = _number("decks", options["decks"])
    if not rules.min_decks <= decks <= rules.max_decks:
        raise ValueError(f"{rules.title} is played with {rules.min_decks} to {rules.max_decks} decks, not {decks}")
    return i.LoadShoe(
        game=rules.id,
        decks=decks,
        id=options.get("id", ""),
        burn=_burn(options.get("burn", "none")),
        surplus=_one_of("surplus", options.get("surplus", "next-round"), ("next-round", "burn")),  # type: ignore[arg-type]
        rounds_after_cut=_number("rounds_after_cut", options.get("rounds_after_cut", "1")),
        early_card=_one_of("early", options.get("early", "decision"), ("decision", "first-card", "void")),  # type: ignore[arg-type]
        rounding=_one_of("rounding", options.get("rounding", "half-up"), ("half-up", "half-even", "down", "up")),  # type: ignore[arg-type]
        deck_set=options.get("set", ""),
    )


def _alone(make: Callable[[], i.AnyInput]) -> Callable[[list[str]], i.AnyInput]:
    def parse(words: list[str]) -> i.AnyInput:
        if words:
            raise ValueError(f"nothing may follow it, not {_shown(words[0])}")
        return make()

    return parse


def _code(word: str) -> str:
    if not is_code(word):
        raise ValueError(f"{_shown(word)} is no card; a card is a rank and a suit, as in Th, 4d or Sf")
    return word


def _hex(word: str) -> str:
    if not _HEX.fullmatch(word):
        raise ValueError(f"{_shown(word)} is no id; an id is 1 to 64 hexadecimal digits")
    return word.lower()


def _card(words: list[str]) -> i.DrawCard:
    plain, options = _options(words, ("uid", "target"))
    if len(plain) != 1:
        raise ValueError("it takes one card, as in: card 4d")
    uid = _hex(options["uid"]) if "uid" in options else ""
    return i.DrawCard(_code(plain[0]), uid, options.get("target", ""))


def _together(words: list[str]) -> i.DrawTogether:
    plain, options = _options(words, ("order", "uids"))
    if len(plain) < 2:
        raise ValueError("it takes two or more cards")
    order = _one_of("order", options.get("order", "unknown"), ("known", "unknown"))
    # A card whose id was not read has nothing between its commas.
    uids = tuple(uid and _hex(uid) for uid in options["uids"].split(",")) if "uids" in options else ()
    if uids and len(uids) != len(plain):
        raise ValueError("uids= must have an id for each card")
    return i.DrawTogether(tuple(map(_code, plain)), order == "known", uids)


def _foreign(words: list[str]) -> i.DrawForeign:
    if len(words) > 1:
        raise ValueError("it takes one id at most")
    return i.DrawForeign(_hex(words[0]) if words else "")


def _returned(words: list[str]) -> i.ReturnCard:
    plain, options = _options(words, ("uid",))
    if len(plain) > 1:
        raise ValueError("it takes one card, as in: returned 4d")
    return i.ReturnCard(_code(plain[0]) if plain else "", _hex(options["uid"]) if "uid" in options else "")


def _wager_words(words: list[str], least: int, most: int, shape: str) -> tuple[list[str], str]:
    """Return the words of a wager and the id of the request, which stands at the end where there is one."""
    request = words[-1].removeprefix("id=") if len(words) > least and words[-1].startswith("id=") else ""
    plain = words[:-1] if request else words
    if not least <= len(plain) <= most:
        raise ValueError(f"it is written: {shape} [id=TEXT]")
    if any(len(word) > LONGEST_NAME for word in (*plain, request)):
        raise ValueError(f"a name is at most {LONGEST_NAME} characters long")
    return plain, request


def _wager(words: list[str]) -> i.PlaceWager:
    (who, wager, amount), request = _wager_words(words, 3, 3, "wager WHO WAGER AMOUNT")
    return i.PlaceWager(who, wager, parse_amount(amount), request)


def _withdraw(words: list[str]) -> i.WithdrawWager:
    (who, wager, *amount), request = _wager_words(words, 2, 3, "withdraw WHO WAGER [AMOUNT]")
    return i.WithdrawWager(who, wager, parse_amount(amount[0]) if amount else None, request)


def _device_result(words: list[str]) -> i.DeviceSaysResult:
    plain, options = _options(words, ("pairs",))
    if len(plain) != 1:
        raise ValueError("it takes one result: player, banker, tie or forced")
    winner = _one_of("result", plain[0], ("player", "banker", "tie", "forced"))
    pairs = _one_of("pairs", options.get("pairs", "none"), ("none", "player", "banker", "both"))
    return i.DeviceSaysResult(
        "" if winner == "forced" else winner,  # type: ignore[arg-type]
        pairs in ("player", "both"),
        pairs in ("banker", "both"),
    )


def _fault_name(words: list[str]) -> str:
    if len(words) != 1:
        raise ValueError("it takes one fault, as in: fault jam")
    return words[0]


_PARSERS: dict[str, Callable[[list[str]], i.AnyInput]] = {
    "shoe": _shoe,
    "bets": _alone(i.PlaceBets),
    "close": _alone(i.NoMoreBets),
    "result": _alone(i.AnnounceResult),
    "cut": _alone(i.CutCard),
    "empty": _alone(i.ShoeEmpty),
    "card": _card,
    "together": _together,
    "foreign": _foreign,
    "unreadable": _alone(i.DrawUnreadable),
    "returned": _returned,
    "void": lambda words: i.Void(" ".join(words)),
    "reconstruct": lambda words: i.Reconstruct(tuple(map(_code, words))),
    "ack": _alone(i.Acknowledge),
    "wager": _wager,
    "withdraw": _withdraw,
    "fault": lambda words: i.RaiseFault(_fault_name(words)),
    "fault-cleared": lambda words: i.ClearFault(_fault_name(words)),
    "device-result": _device_result,
}


def _word(text: str) -> str:
    """Return a name from outside as one word of a script, whatever is in it."""
    return "_".join(text.replace("#", " ").split())[:LONGEST_NAME] or "_"


def _shoe_line(load: i.LoadShoe) -> str:
    options = {
        "decks": str(load.decks),
        "id": load.id and _word(load.id),
        "burn": str(load.burn),
        "surplus": load.surplus,
        "rounds_after_cut": str(load.rounds_after_cut),
        "early": "" if load.early_card == "decision" else load.early_card,
        "rounding": "" if load.rounding == "half-up" else load.rounding,
        "set": load.deck_set and _word(load.deck_set),
    }
    return " ".join(["shoe", _word(load.game), *(f"{name}={value}" for name, value in options.items() if value)])


def _card_line(card: i.DrawCard) -> str:
    uid = f" uid={card.uid}" if card.uid else ""
    return f"card {card.code}{uid}" + (f" target={_word(card.target)}" if card.target else "")


def _together_line(cards: i.DrawTogether) -> str:
    uids = f" uids={','.join(cards.uids)}" if any(cards.uids) else ""
    return f"together {' '.join(cards.codes)} order={'known' if cards.order_known else 'unknown'}{uids}"


def _device_line(says: i.DeviceSaysResult) -> str:
    pairs = {(False, False): "none", (True, False): "player", (False, True): "banker", (True, True): "both"}
    return f"device-result {says.winner or 'forced'} pairs={pairs[says.player_pair, says.banker_pair]}"


def _bet_line(verb: str, bet: i.PlaceWager | i.WithdrawWager) -> str:
    amount = "" if bet.amount is None else f" {dollars(bet.amount)}"
    request = f" id={_word(bet.id)}" if bet.id else ""
    return f"{verb} {_word(bet.who)} {_word(bet.wager)}{amount}{request}"


_WRITERS: dict[type, Callable[..., str]] = {
    i.LoadShoe: _shoe_line,
    i.PlaceBets: lambda _: "bets",
    i.NoMoreBets: lambda _: "close",
    i.AnnounceResult: lambda _: "result",
    i.CutCard: lambda _: "cut",
    i.ShoeEmpty: lambda _: "empty",
    i.DrawCard: _card_line,
    i.DrawTogether: _together_line,
    i.DrawForeign: lambda card: f"foreign {card.uid}".strip(),
    i.DrawUnreadable: lambda _: "unreadable",
    i.ReturnCard: lambda card: f"returned {card.code}".strip() + (f" uid={card.uid}" if card.uid else ""),
    i.Void: lambda void: " ".join(["void", *void.reason.replace("#", " ").split()]),
    i.Reconstruct: lambda reconstruct: f"reconstruct {' '.join(reconstruct.codes)}".strip(),
    i.Acknowledge: lambda _: "ack",
    i.PlaceWager: lambda bet: _bet_line("wager", bet),
    i.WithdrawWager: lambda bet: _bet_line("withdraw", bet),
    i.RaiseFault: lambda fault: f"fault {_word(fault.fault)}",
    i.ClearFault: lambda fault: f"fault-cleared {_word(fault.fault)}",
    i.DeviceSaysResult: _device_line,
}
