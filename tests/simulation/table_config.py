"""The table of a plan: its configuration as a technician would write it, and the register of its cards."""

from shoe_controller import config as c
from shoe_controller.cards import DECKS
from shoe_controller.decks.deck_set import make_set
from shoe_controller.rules.games import find

SITE, TABLE = "sim", "t1"


def configuration(plan, folder, key):
    """Give the configuration of a table whose files are in a folder."""
    key_file = folder / "shoe.key"
    if key is not None:
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
    return c.Config(
        table=c.Table(site=SITE, name=TABLE, game=plan.game, decks=plan.decks),
        policy=c.Policy(
            burn=plan.burn,
            surplus=plan.surplus,
            early_card=plan.early_card,
            rounds_after_cut=plan.rounds_after_cut,
            rounding=plan.rounding,
            reveal=plan.display or "as-drawn",
        ),
        shoe=c.Shoe(
            protocol=plan.protocol,
            device="/dev/simulated",
            auth_key_file=str(key_file) if key else "",
            require_auth=key is not None,
        ),
        panel=c.Panel(factory="none"),
        journal=c.Journal(
            directory=str(folder / "journal"), signing_key_file=str(folder / "signing.key"), archive=plan.archive
        ),
        web=c.Web(enabled=bool(plan.display)),
        metrics=c.Metrics(enabled=False),
        mqtt=c.Mqtt(brokers=("mqtt://broker",), wagers=plan.terminal),
        serial_feed=c.SerialFeed(device="/dev/feed" if plan.serial else "", format="jsonl", resume="cursor"),
    )


def register(plan, stock):
    """Give the registered set of the cards in the shoe."""
    return make_set(
        "sim",
        game=plan.game,
        deck=DECKS[find(plan.game).deck.size],
        decks=plan.decks,
        cards=[(card.uid, card.code) for card in stock],
        registered="",
        source="simulated",
    )
