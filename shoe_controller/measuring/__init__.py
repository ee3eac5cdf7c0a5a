"""Measuring the machine on which the program is installed: `shoe-controller bench` on a real Pi."""
