"""The program as people start it: a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = [str(Path(sys.executable).with_name("shoe-controller"))]
ENVIRONMENT = os.environ | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "120"}


def run(*arguments, **options):
    """Run the program to its end."""
    settings = {"capture_output": True, "timeout": 60, "env": ENVIRONMENT, "check": False} | options
    return subprocess.run([*COMMAND, *map(str, arguments)], **settings)  # noqa: PLW1510 - check is among them


def start(*arguments, **options):
    """Start the program and leave it running."""
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=ENVIRONMENT, **options)
