"""The scoreboard roads: bead plate, big road, the three derived roads, and what the next round would add."""
