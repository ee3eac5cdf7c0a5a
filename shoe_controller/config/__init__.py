"""The configuration: one TOML file, checked whole, as one frozen value.

`load(path)` returns a `Config` or raises `ConfigError` with every problem of the file.
"""

from shoe_controller.config.hardware import Buttons, Lamps, Panel, Pin, Shoe
from shoe_controller.config.load import DEFAULT_PATH, load, parse
from shoe_controller.config.model import Config, changed_keys
from shoe_controller.config.outputs import Journal, Local, Log, Metrics, Mqtt, Resend, SerialFeed, Web
from shoe_controller.config.problems import ConfigError, ConfigUnreadableError, Problem
from shoe_controller.config.secret_files import SecretFileError, read_password, read_secret
from shoe_controller.config.table import Limit, Policy, Table

__all__ = [
    "DEFAULT_PATH",
    "Buttons",
    "Config",
    "ConfigError",
    "ConfigUnreadableError",
    "Journal",
    "Lamps",
    "Limit",
    "Local",
    "Log",
    "Metrics",
    "Mqtt",
    "Panel",
    "Pin",
    "Policy",
    "Problem",
    "Resend",
    "SecretFileError",
    "SerialFeed",
    "Shoe",
    "Table",
    "Web",
    "changed_keys",
    "load",
    "parse",
    "read_password",
    "read_secret",
]
