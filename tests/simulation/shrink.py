"""From a world in which something was found to the least that still shows it: a plan, a script, a schedule."""

from dataclasses import replace

from shoe_controller.script import to_line
from shoe_controller.session import facts as f
from shoe_controller.session import inputs as i
from shoe_controller.session.session import Session
from tests.simulation.auditor import Auditor
from tests.simulation.world import play

# What can be left out of a plan, the greatest first.
WITHOUT = (
    {"crashes": 0.0},
    {"cuts": 0.0},
    {"noise": 0.0},
    {"outages": 0.0},
    {"disk_failures": 0.0},
    {"slow_disk": 0.0},
    {"clock_steps": 0.0},
    {"slips": 0.0},
    {"wagers": (0,)},
    {"serial": False},
    {"display": ""},
    {"key": False},
    {"archive": "never"},
    {"engine": "transitions"},
)
LAST = 60


def shrink_plan(plan):
    """Leave out everything without which a world still breaks."""
    for without in WITHOUT:
        smaller = replace(plan, **without)
        if smaller != plan and play(smaller).breach:
            plan = smaller
    while plan.rounds > 1 and play(smaller := replace(plan, rounds=plan.rounds // 2)).breach:
        plan = smaller
    return plan


def breach_of(inputs):
    """Play inputs at a table alone, without shoe, disk or feed; return what the auditor finds, "" if nothing."""
    session, found = Session(), []
    auditor = Auditor({}, found.append)
    for happened in inputs:
        facts = session.handle(happened)
        auditor.entry(happened, facts, None)
        auditor.check_view(session.view())
        if found:
            return found[0]
    return ""


def shrink_inputs(inputs):
    """Return the fewest inputs that make a table go wrong; if none do, what counted since the last shoe."""
    if not breach_of(inputs):
        shoes = [at for at, happened in enumerate(inputs) if isinstance(happened, i.LoadShoe)]
        return _not_refused(inputs[shoes[-1] if shoes else 0 :])
    size = len(inputs) // 2
    while size:
        at = 0
        while at < len(inputs):
            fewer = inputs[:at] + inputs[at + size :]
            if breach_of(fewer):
                inputs = fewer
            else:
                at += size
        size //= 2
    return inputs


def _not_refused(inputs):
    """Leave out what changed nothing: a button that is pressed in vain for minutes hides what led to it."""
    session = Session()
    return [happened for happened in inputs if {type(fact) for fact in session.handle(happened)} != {f.Refused}]


def failure_report(outcome):
    """Say everything that is needed to see it again."""
    plan = shrink_plan(outcome.plan)
    small = play(plan)
    if not small.breach:
        small = outcome
    lines = [
        f"seed {outcome.plan.seed}: {outcome.breach}",
        f"again: python -m tests.simulation --seed {outcome.plan.seed} --rounds {outcome.plan.rounds}",
        f"the least that shows it: {small.plan}",
        f"which finds: {small.breach}",
        "",
        "# table script" + ("" if breach_of(small.inputs) else " (the table alone plays it without a fault)"),
    ]
    lines += [line for happened in shrink_inputs(small.inputs) if (line := to_line(happened)) is not None]
    lines += ["", f"schedule, the last {LAST} things before the breach:"]
    lines += [f"{at:10.3f} s  {' '.join(map(str, what))}" for at, *what in small.schedule[-LAST:]]
    return "\n".join(lines)
