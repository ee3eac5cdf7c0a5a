"""The demonstration: a whole table on one machine, with people who are simulated too."""
