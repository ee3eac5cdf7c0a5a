"""The runner of the long campaigns: what it finds, what counts as failed and what it tells at the end."""

import subprocess
import sys
from io import StringIO
from types import SimpleNamespace

import pytest

from tests.soak.__main__ import find_campaigns, run_campaign, table
from tests.soak.report import Report


def campaign(run):
    return SimpleNamespace(__doc__="What it proves.\n\nMore.", NAME="one", run=run)


def quiet_report(**settings):
    return Report("one", out=StringIO(), **settings)


def raises(report):
    raise OSError("no room")


def tells_a_fault(report):
    report.fault("seed 3: a card is lost")
    return True


@pytest.mark.parametrize(
    "run, passed", [(lambda r: True, True), (lambda r: False, False), (raises, False), (tells_a_fault, False)]
)
def test_a_campaign_passes_only_if_it_says_so_and_found_no_fault(run, passed):
    assert run_campaign(campaign(run), quiet_report()) is passed


def test_the_table_names_figures_and_faults():
    report = quiet_report(size=0.001)
    report.figure("cuts", report.sized(4_000_000))
    for number in range(7):
        report.fault(f"seed {number}\ndetails")
    lines = table([(report, False, 1.25)]).splitlines()
    assert "FAILED" in lines[1]
    assert "cuts 4,000" in lines[1]
    assert lines[2].endswith("fault: seed 0")
    assert lines[-1].endswith("and 2 faults more")


def test_a_module_that_cannot_be_loaded_is_a_campaign_that_fails(tmp_path, monkeypatch):
    package = tmp_path / "long_runs"
    package.mkdir()
    (package / "broken.py").write_text("import no_such_thing\n")
    (package / "shared.py").write_text("")
    (package / "good.py").write_text("NAME = 'fine'\ndef run(report): return True\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = find_campaigns("long_runs", package)
    assert sorted(found) == ["broken", "fine"]
    assert not run_campaign(found["broken"], quiet_report())


@pytest.mark.parametrize("name", ["decoder-fuzz", "accidents", "c-twins", "unplug"])
def test_a_small_part_of_each_campaign_of_the_wire_passes(name):
    report = quiet_report(size=0.001)
    assert run_campaign(find_campaigns()[name], report), report.faults
    assert report.figures


@pytest.mark.parametrize(
    "arguments, code, told", [(["--list"], 0, "decoder-fuzz"), (["no-such"], 2, "no campaign no-such; there are")]
)
def test_the_program_lists_its_campaigns_and_knows_no_others(arguments, code, told):
    ended = subprocess.run(
        [sys.executable, "-m", "tests.soak", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == code
    assert told in ended.stdout + ended.stderr
