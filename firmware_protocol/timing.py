"""Times of the link, in seconds. PROTOCOL.md gives the same figures with their reasons; a test compares them."""

QUERY_RETRY = 0.5  # host: until a hello comes
QUERY_SPACING = 0.1  # host: announcements are answered at most this often
NO_ANSWER = 5.0  # host: then it says that nobody answers, and goes on asking
WELCOME_RETRY = 0.3  # host: until the device is heard in the new link
WELCOME_TRIES = 10
REFUSED_RETRY = 5.0  # host asks a refused device again; a refused device announces itself again
REPLAY_RETRY = 0.25  # host: while a gap stands
COMMAND_RETRY = 0.2  # host: until a command is answered
COMMAND_TRIES = 10
KEEPALIVE = 1.0  # host: it sends an ack at least this often
SILENCE = 5.0  # both ends: then the other one is gone

ANNOUNCE = 1.0  # device: hello of its own accord while it has no link
HEARTBEAT = 1.0  # device
RESEND_FIRST = 0.3  # device: unacknowledged events are sent again, then after twice the time ...
RESEND_LONGEST = 2.4  # ... up to this
WINDOW = 8  # events sent and not yet acknowledged
