"""Questions about the open task, answered in the background while somebody looks; answers are the engine's values."""
