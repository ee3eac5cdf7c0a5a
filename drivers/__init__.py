"""Hardware of a table: shoe transports, the dealer's panel, and the simulated shoe."""
