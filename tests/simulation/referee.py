"""The referee: baccarat in a few naive lines, written from the published rules and from nothing else.

It shares no code with the controller, on purpose: two who err in the same way are rare. Money is in cents.
"""

from functools import cache

PAYS_ON_PLAYER = {1: 150, 2: 80, 3: 50, 4: 50, 5: 30, 6: 11, 7: 8, 8: 6, 9: 5}  # Sands Super 4.3
PAYS_ON_BANKER = {1: 150, 2: 80, 3: 50, 4: 25, 5: 15, 6: 11, 7: 8, 8: 6, 9: 5}  # 4.4
PAYS_ON_TIE = {0: 100, 1: 150, 2: 150, 3: 150, 4: 100, 5: 80, 6: 35, 7: 35, 8: 50, 9: 50}  # 4.5


@cache  # it is asked some thousand times in a world
def value(card):
    if card[0] == "A":
        return 1
    return int(card[0]) if card[0].isdigit() else 0


def points(hand):
    return sum(map(value, hand)) % 10


def who_is_next(player, banker):
    """Say whose card is due: "player", "banker", or None when the round is over."""
    dealt = len(player) + len(banker)
    if dealt < 4:
        return "banker" if dealt % 2 else "player"
    if points(player[:2]) >= 8 or points(banker[:2]) >= 8:
        return None
    if len(player) == 2 and points(player) <= 5:
        return "player"
    if len(banker) == 3:
        return None
    has = points(banker)
    if len(player) == 2:  # the Player stands
        return "banker" if has <= 5 else None
    third = value(player[2])
    draws = (
        has <= 2
        or (has == 3 and third != 8)
        or (has == 4 and third in (2, 3, 4, 5, 6, 7))
        or (has == 5 and third in (4, 5, 6, 7))
        or (has == 6 and third in (6, 7))
    )
    return "banker" if draws else None


def deal(cards):
    """Deal cards in the order in which they came; say the hands and which cards were too many."""
    player, banker, cards = [], [], list(cards)
    while cards:
        side = who_is_next(player, banker)
        if side is None:
            break
        (player if side == "player" else banker).append(cards.pop(0))
    return player, banker, cards


def winner(player, banker):
    if points(player) == points(banker):
        return "tie"
    return "player" if points(player) > points(banker) else "banker"


def prize_pair(two):
    """Precious pairs of Sands Super, 4.2: the highest that fits."""
    if two[0][0] != two[1][0]:
        return None
    diamonds = two[0][1] == two[1][1] == "d"
    if two[0][0] == "4":
        return 30 if diamonds else 15
    return 12 if diamonds else 9


def flaming(hand):
    return len(hand) == 2 and points(hand) == 9 and all(card[1] == "f" for card in hand)


def six_stars(player, banker):
    return all(sorted(card[0] for card in hand) == ["F", "L", "S"] for hand in (player, banker))


def odds(game, wager, player, banker):
    """Say what a wager wins as (pays, per), or "push", or None if it loses."""
    p, b = points(player), points(banker)
    won = "tie" if p == b else "player" if p > b else "banker"
    hands = {"player": player, "banker": banker}
    if wager in hands:
        if won == "tie":
            return "push"
        if won != wager:
            return None
        if wager == "banker" and b == 6:
            return (1, 2)
        return (6, 5) if game == "six-star" and flaming(hands[wager]) else (1, 1)
    if wager == "tie":
        return (8, 1) if won == "tie" else None
    if wager == "fortune_six":
        return ((12, 1) if len(banker) == 2 else (20, 1)) if won == "banker" and b == 6 else None
    if wager == "element_bonus":
        cards = [*player, *banker]
        return ({4: 50, 5: 500, 6: 5000}[len(cards)], 1) if len({card[1] for card in cards}) == 1 else None
    if wager == "sands_six":
        return (6, 1) if max(p, b) == 6 else None
    if "_wins_on_" in wager:
        if not wager.startswith(won):
            return None
        total = max(p, b)  # of the hand that won
        table = {"player": PAYS_ON_PLAYER, "banker": PAYS_ON_BANKER, "tie": PAYS_ON_TIE}[won]
        return (table[total], 1) if wager.endswith(f"_{total}") else None
    side, kind = wager.split("_", 1)
    two = hands[side][:2]
    if kind == "pair":
        return (11, 1) if two[0][0] == two[1][0] else None
    if kind == "precious_pair":
        pays = prize_pair(two)
        return (pays, 1) if pays else None
    return (2, 1) if all(card[1] in {"red": "hd", "black": "cs"}[kind] for card in two) else None


def bonus(game, wager, player, banker):
    """Say the fixed prize in dollars that goes with a tie wager."""
    if game != "six-star" or wager != "tie" or winner(player, banker) != "tie":
        return 0
    if flaming(player) and flaming(banker):
        return 3_000
    return 30_000 if six_stars(player, banker) else 0


def rounded(cents, per, policy):
    """Divide; say how a part of a cent is rounded."""
    whole, rest = cents // per, cents % per
    if not rest or policy == "down":
        return whole
    if policy == "up" or 2 * rest > per:
        return whole + 1
    if 2 * rest < per:
        return whole
    return whole + 1 if policy == "half-up" or whole % 2 else whole


def settle(game, wager, stake, player, banker, policy="half-up"):
    """Say what a stake gets back in all, as (outcome, cents)."""
    result = odds(game, wager, player, banker)
    if result == "push":
        return "push", stake
    if result is None:
        return "lose", 0
    pays, per = result
    return "win", stake + rounded(stake * pays, per, policy) + 100 * bonus(game, wager, player, banker)


@cache
def wagers(game):
    """Say which wagers a game has."""
    base = ["player", "banker", "tie"]
    pairs = ["player_pair", "banker_pair"]
    if game == "no-commission":
        return base + pairs
    if game in ("fortune-six", "sands-elements"):
        return [*base, *pairs, "fortune_six"]
    if game == "six-star":
        return [*base, *pairs, "fortune_six", "element_bonus"]
    sides = [f"{side}_{kind}" for side in ("player", "banker") for kind in ("precious_pair", "red", "black")]
    on = [f"{side}_wins_on_{n}" for side in ("player", "banker") for n in range(1, 10)]
    return [*base, *sides, "sands_six", *on, *(f"tie_wins_on_{n}" for n in range(10))]
