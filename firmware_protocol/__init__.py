"""What the shoe speaks: bytes to messages and back, with no I/O and no clock."""
