"""The application: the one place that sees every part and puts them together."""
