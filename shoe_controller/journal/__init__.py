"""The journal: what happened, in order, hash-chained and signed; the one truth of the table."""
