"""The strategy lab of the open task: which rules with which settings, walked through, side by side, over all requests.

Everything is worked out in the background and is the engine's values; nothing here knows a rule, nothing writes.
"""
