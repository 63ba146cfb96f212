"""How much work something is. A busy machine makes it last longer, but not more."""

import time


class Work:
    """Seconds that this thread computed inside the block; waits, and turns of others, do not count."""

    def __enter__(self):
        self._start = time.thread_time()
        return self

    def __exit__(self, *_how):
        self.seconds = time.thread_time() - self._start
