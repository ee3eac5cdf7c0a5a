"""The dealer's panel: buttons, supervisor key, lamps, gate and buzzer on GPIO."""
