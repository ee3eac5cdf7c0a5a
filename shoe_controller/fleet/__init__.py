"""The fleet: many simulated tables with real sessions, journals and feeds, to find out what a broker can carry."""
