"""Parts of a window for tests."""


class NoWatcher:
    """Watches nothing."""

    def __init__(self, _callback, _told):
        self.tasks = []

    def watch_roots(self, _paths):
        pass

    def watch_task(self, directory, _files):
        self.tasks.append(directory)

    def close(self):
        pass
