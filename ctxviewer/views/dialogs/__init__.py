"""Dialogs: the preview of a plan, preferences, help, small questions, and the report of a bug."""
