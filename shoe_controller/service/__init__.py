"""The service: one queue of inputs, one consumer, the journal between the session and everything that listens."""
