"""C and Python device say the same bytes whatever happens, and the C one deals whole shoes on bad wires."""

import tempfile
from pathlib import Path
from random import Random

import pytest

from tests.firmware_protocol.c_reference import compile_library
from tests.firmware_protocol.test_c_reference import CRig, Twins
from tests.firmware_protocol.wires import KEY, WIRES, shoe
from tests.soak.accidents import went_wrong

NAME = "c-twins"
SEEDS = 1_000
STEPS = 400
SHOES = 200
CARDS = 416


def run(report):
    with tempfile.TemporaryDirectory() as folder:
        lib = compile_library(Path(folder))
        seeds = report.sized(SEEDS)
        report.say(f"{seeds:,} runs of {STEPS} random calls to both devices")
        for seed in range(report.seed, report.seed + seeds):
            try:
                same_words(lib, seed)
            except AssertionError as error:
                report.fault(f"seed {seed}: the two devices differ: {error}")
        report.figure("runs", seeds)
        report.figure("calls", seeds * STEPS)
        shoes = report.sized(SHOES)
        report.say(f"{shoes:,} shoes of the C device, each way on a bad wire")
        for seed in range(report.seed, report.seed + shoes):
            fault = whole_shoe(lib, seed)
            if fault:
                report.fault(f"shoe of seed {seed}: {fault}")
        report.figure("shoes", shoes)
        report.figure("cards", shoes * CARDS)
    return True


def same_words(lib, seed):
    with pytest.MonkeyPatch.context() as patch:
        twins = Twins(lib, seed, patch)
        for _ in range(STEPS):
            twins.step()


def whole_shoe(lib, seed):
    chance = Random(seed)
    wires = chance.choice(WIRES)(seed), chance.choice(WIRES)(seed + 1)
    rig = CRig(lib, *wires, key=chance.choice((None, KEY)), seed=seed)
    rig.commit_after = chance.choice((0.0, 0.03))
    cards = shoe(CARDS, seed)
    rig.deal(cards, every=0.05)
    return went_wrong(rig, cards)
