"""A simulated world that tries to break the table: one number decides everything that happens in it.

The shoe, its cable, the disk, the broker and the people are simulated; protocol link, reconnection, table service,
session, machine, journal and feeds are the production code, in one process and in virtual time.

    python -m tests.simulation --seed N        play one world again and say what was found
"""
