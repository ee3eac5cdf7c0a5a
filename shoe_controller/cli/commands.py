"""The commands of the program, one line each.

Each has a module of the same name beside this one (`-` becomes `_`) with a docstring (its description),
EXAMPLES, `add_arguments(parser)` and `run(args) -> exit code`.
"""

COMMANDS: dict[str, str] = {
    "accept": "let the round stand: accept what waits for a decision",
    "ack": "acknowledge the alarm",
    "bench": "measure this machine: rules, disk, start, memory and idle CPU of the daemon",
    "check-config": "check a configuration file and list all that is wrong with it",
    "completion": "print a script with which bash, zsh or fish completes commands and options",
    "decks": "register deck sets, so that each RFID id has its card; list, show and retire them",
    "demo": "play a table on this machine, with a simulated shoe and dealer",
    "devices": "list serial ports, USB shoes and GPIO chips, and what to write into the configuration",
    "doctor": "check ports, permissions, disk, clock, brokers, keys and journal, and say how to mend them",
    "export": "write rounds, cards, irregularities or all events of a journal as CSV, JSON lines or a table script",
    "fleet": "let many simulated tables play against a broker, and measure what arrives",
    "games": "list the approved games, or show one game's rules and pay table",
    "key-card": "key in the face of a card that could not be read",
    "listen": "print what a table sends to a broker, and ask for what is missing",
    "manual": "print the manual page",
    "new-shoe": "put a new shoe into play",
    "odds": "exact probabilities and house edge of every wager of a game",
    "replay": "play a table script and print what the rules say",
    "roads": "print the scoreboard roads of a row of results",
    "run": "run the controller of a table: the daemon",
    "shut-gate": "shut the gate on the panel after the controller has ended",
    "simulate": "put a simulated shoe on a pseudo-terminal, with faults to order",
    "status": "tell what the controller is doing now",
    "verify": "prove a journal: hash chain, signatures, and that a replay gives what was recorded",
    "void": "declare the round void",
}
