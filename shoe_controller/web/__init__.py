"""The table display: a page and an event stream, read-only, for players, the pit and other displays."""
