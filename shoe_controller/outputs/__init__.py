"""Feeds to other systems: MQTT to casino systems, a serial line to scoreboards. Each is a cursor over the journal."""
