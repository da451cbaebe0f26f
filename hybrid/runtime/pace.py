"""Choose how many threads llama.cpp gets, by how much of the processor it really had."""

from __future__ import annotations

_WINDOW_S = 0.1
_SHARE = 0.75
_FIRST_REST_S = 2.0
_LONGEST_REST_S = 30.0


class Pace:
    """Say how many threads to use next: all that are allowed while cores are free, one while others use them.

    llama.cpp's threads wait for each other by spinning. When one of them loses its core to another process, all of them wait
    for it, hundreds of times a token: two threads on two busy cores were measured at 1 token a second where one thread makes
    53. While all of them run, they use as much processor time as there are threads; less means that one was kept waiting.
    """

    def __init__(self, most: int) -> None:
        """Begin with `most` threads."""
        self.threads = most
        self._most = most
        self._wall = 0.0
        self._used = 0.0
        self._rest = _FIRST_REST_S / 2

    def note(self, wall: float, used: float) -> int:
        """Take the seconds that a batch lasted and the processor time it used, and return the threads for the next."""
        self._wall += wall
        self._used += used
        if self.threads < self._most:
            if self._wall >= self._rest:
                self._begin(self._most)
        elif self._wall >= _WINDOW_S:
            if self._most > 1 and self._used < _SHARE * self._most * self._wall:
                self._begin(1)
                self._rest = min(2 * self._rest, _LONGEST_REST_S)
            else:
                self._begin(self._most)
                self._rest = _FIRST_REST_S / 2
        return self.threads

    def _begin(self, threads: int) -> None:
        self.threads, self._wall, self._used = threads, 0.0, 0.0
