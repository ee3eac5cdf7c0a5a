"""Hardware in the loop: a technician and a real table go through everything that no simulation can show."""
