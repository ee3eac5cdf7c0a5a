"""The baccarat shoe controller: rules, machine, journal, feeds and display of one table."""

__version__ = "0.1.0"
