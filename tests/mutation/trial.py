"""One trial: a fresh import of the project with one fault in it, and the tests that pass over the fault.

Each trial is a forked process. The parent has loaded pytest and the libraries, the child forgets every module of the
project and loads them anew, one of them with the fault. Nothing is written to the tree, so that a trial cannot be seen
by anyone else, and a fault that loops for ever costs seconds of processor time, not of waiting.
"""

import gc
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from types import CodeType

ROOT = Path(__file__).parents[2]
OURS = ("shoe_controller", "firmware_protocol", "drivers", "tests")
EXAMPLES = 25  # of each property: it is the tests' claims that are on trial, not their endurance
PATIENCE = 4.0  # seconds of processor time for a test, beside ten times what it takes without a fault
MEMORY = 3 << 30

PASSED, NOTICED, NOT_LOADED = 0, 1, 70
# The drawing in the docs is made from the rows: it would notice every fault in them and knows nothing of the rules.
LEFT_OUT = "tests/machine/test_rows.py::test_the_drawing_in_the_docs_is_current"
ARGUMENTS = ["--deselect", LEFT_OUT, "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]


def forget_project() -> None:
    """Make the next import of any module of the project a fresh one."""
    for name in list(sys.modules):
        if name.partition(".")[0] in OURS:
            del sys.modules[name]


class Chosen:
    """A pytest plugin: of all tests that were collected, those of `order`, in that order, each with its time limit."""

    def __init__(self, order: dict[str, float] | None = None) -> None:
        self.order = order

    def pytest_collection_modifyitems(self, items):
        from hypothesis import settings

        for item in items:
            case = getattr(item, "cls", None)
            if case is not None and hasattr(case, "settings"):  # a rule-based machine has settings of its own
                case.settings = settings(case.settings, **few_examples())
        if self.order is not None:
            places = {node: at for at, node in enumerate(self.order)}
            items.sort(key=lambda item: places.get(item.nodeid, len(places)))

    def pytest_runtest_setup(self, item):
        if self.order is not None:
            signal.setitimer(signal.ITIMER_PROF, PATIENCE + 10 * self.order.get(item.nodeid, 0.0))


def few_examples():
    from hypothesis import HealthCheck, Phase

    return {
        "max_examples": EXAMPLES,
        "derandomize": True,
        "database": None,
        "deadline": None,
        "phases": (Phase.explicit, Phase.generate),
        "suppress_health_check": list(HealthCheck),
    }


def run_tests(files: list[str], plugin: object) -> int:
    """Run test files in this process, quietly and with few examples."""
    import pytest
    from hypothesis import settings

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.chdir(ROOT)
    settings.register_profile("mutation", **few_examples())
    settings.load_profile("mutation")
    return int(pytest.main([*ARGUMENTS, *files], plugins=[plugin]))


class _Faulty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module with the fault in it."""

    def __init__(self, module: str, path: str, code: CodeType) -> None:
        self.module, self.path, self.code = module, path, code

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        return importlib.util.spec_from_file_location(name, ROOT / self.path, loader=self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.code, module.__dict__)


def module_name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def fork_trial(path: str, code: CodeType, files: list[str], order: dict[str, float]) -> int:
    """Start a trial and give its process id; its exit status says what came of it."""

    def trial() -> int:
        sys.meta_path.insert(0, _Faulty(module_name(path), path, code))
        signal.setitimer(signal.ITIMER_PROF, 10.0)
        try:
            importlib.import_module(module_name(path))
        except Exception:  # noqa: BLE001 - a fault may raise anything
            return NOT_LOADED
        return run_tests(files, Chosen(order))

    return _fork(trial)


def _fork(work: Callable[[], int]) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = NOTICED
    try:
        gc.disable()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        warnings.resetwarnings()
        forget_project()
        gc.enable()
        code = work()
    finally:
        os._exit(code)


class Watch:
    """A pytest plugin: notes how long each test takes, which lines it passes and which cells of the table it asks."""

    def __init__(self, coverage, cells):
        self.coverage, self.cells = coverage, cells
        self.seconds: dict[str, float] = {}
        self.now = ""
        self.failed: list[str] = []

    pytest_collection_modifyitems = Chosen.pytest_collection_modifyitems
    order = None

    def pytest_runtest_protocol(self, item, nextitem):
        self.now = item.nodeid
        self.coverage.switch_context(item.nodeid)
        self._begun = process_time()

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = process_time() - self._begun
        if report.failed:
            self.failed.append(report.nodeid)


def watch(file: str, targets: list[str]) -> dict:
    """Run one test file without a fault and give what its tests pass over."""
    with tempfile.NamedTemporaryFile() as seen:
        child = _fork(lambda: _watch(file, targets, seen.name))
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"{file} does not pass without a fault: nothing can be learnt from it with one")
        return pickle.loads(Path(seen.name).read_bytes())


def _watch(file: str, targets: list[str], seen: str) -> int:
    import coverage

    cells: dict[tuple[str, str], set[str]] = {}
    os.chdir(ROOT)
    tracer = coverage.Coverage(data_file=None, config_file=False, include=[str(ROOT / path) for path in targets])
    tracer.start()
    plugin = Watch(tracer, cells)
    if file.startswith(("tests/session/", "tests/machine/")):
        _note_cells(plugin, cells)
    code = run_tests([file], plugin)
    tracer.stop()
    data = tracer.get_data()
    lines = {path: data.contexts_by_lineno(str(ROOT / path)) for path in targets}
    Path(seen).write_bytes(pickle.dumps({"seconds": plugin.seconds, "lines": lines, "cells": cells}))
    return code


def _note_cells(plugin: Watch, cells: dict[tuple[str, str], set[str]]) -> None:
    engines = importlib.import_module("shoe_controller.machine.engines")
    for engine, model in ((engines.TransitionsEngine, "_position"), (engines.TableEngine, "_model")):

        def fire(self, trigger, *, original=engine.fire, model=model):
            cells.setdefault((getattr(self, model).state, trigger), set()).add(plugin.now)
            original(self, trigger)

        engine.fire = fire
