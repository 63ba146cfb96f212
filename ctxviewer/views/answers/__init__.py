"""Panels that answer questions about the open task. Plain values in, signals out; nothing is worked out here."""
