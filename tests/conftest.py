"""What holds for all tests.

How property tests run: the same examples in every run of `make test`, new ones with HYPOTHESIS_PROFILE=search.

No deadline for an example: how long one takes says more about the machine than about the program.
"""

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# A shell that runs us in the background has its children ignore Ctrl-C, and ours would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Begin with whole processes and browsers, which take longest: else one worker waits for the other at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(("tests/system", "tests/simulation", "tests/web")))
