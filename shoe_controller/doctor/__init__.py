"""Is this machine fit for play? Checks of ports, permissions, disk, clock, brokers, keys and journal.

`examine(config_file, machine)` yields one `Finding` after the other. Nothing here changes the machine; starting a new
chain after damage is a command of its own (`mending`), which asks first.
"""

from shoe_controller.doctor.examine import examine
from shoe_controller.doctor.findings import Finding, Verdict
from shoe_controller.doctor.machine import Machine

__all__ = ["Finding", "Machine", "Verdict", "examine"]
