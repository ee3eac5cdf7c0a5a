"""Hostile input: every reader of files, messages and requests is fed with bytes made to hurt; none breaks or bloats.

One number reproduces a run: `python -m tests.soak hostile-input --seed N`. The wire of the shoes has a campaign of its
own, decoder-fuzz.
"""

import logging

from tests.fuzz import control, page, readers
from tests.fuzz.readers import campaign

NAME = "hostile-input"
INPUTS = 8_000  # of each reader of files and messages
REQUESTS = 3_000  # of each server


def run(report):
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it warns of each request that is no HTTP
    targets = [(make, readers.SAMPLES[make], readers.WORDS[make], INPUTS, None) for make in readers.SAMPLES]
    targets.append((control.control_request, control.SAMPLES, control.WORDS, REQUESTS, None))
    targets.append((page.http_request, page.SAMPLES, page.WORDS, REQUESTS, page.request))
    for make, samples, words, inputs, fresh in targets:
        fed = report.sized(inputs)
        faults, understood = campaign(make, samples, words, fed, report.seed, fresh)
        report.figure(f"{make.__name__.replace('_', ' ')} inputs", fed)
        report.say(f"{understood:,} of them were understood")
        for fault in faults:
            report.fault(fault)
    return True
