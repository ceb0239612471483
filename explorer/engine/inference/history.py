"""What was answered so far, and to which intervals.

A ``History`` never changes for whoever holds it, and still appending costs nothing to speak of: successive
histories look at one buffer, each at its own length. Only a history that is continued twice is copied.

    >>> first = History().append(0.5, -1.0, 1.0)
    >>> second = first.append(2.0, -1.0, 3.0)
    >>> first.y, second.right
    (array([0.5]), array([1., 3.]))
"""

import numpy as np


class History:
    """Answers ``y`` to the intervals ``[left, right]``."""

    __slots__ = ("_buffer", "_length", "_used")

    def __init__(self, y=(), left=(), right=()) -> None:
        self._length = len(y)
        self._buffer = np.empty((3, max(64, self._length)))
        self._buffer[:, : self._length] = y, left, right
        self._used = [self._length]  # shared by all that look at this buffer

    def append(self, y: float, left: float, right: float) -> "History":
        longer = object.__new__(History)
        longer._length = self._length + 1
        if self._used[0] == self._length < self._buffer.shape[1]:
            longer._buffer, longer._used = self._buffer, self._used
        else:
            longer._buffer = np.empty((3, max(64, 2 * self._length)))
            longer._buffer[:, : self._length] = self._buffer[:, : self._length]
            longer._used = [self._length]
        longer._used[0] = longer._length
        longer._buffer[:, self._length] = y, left, right
        return longer

    def __len__(self) -> int:
        return self._length

    @property
    def repeats(self) -> bool:
        """Whether the last two were asked for the same interval."""
        _, left, right = self.arrays
        return len(self) > 1 and left[-1] == left[-2] and right[-1] == right[-2]

    @property
    def y(self) -> np.ndarray:
        return _read_only(self.arrays[0])

    @property
    def left(self) -> np.ndarray:
        return _read_only(self.arrays[1])

    @property
    def right(self) -> np.ndarray:
        return _read_only(self.arrays[2])

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``y, left, right``, as the kernels take them."""
        y, left, right = self._buffer
        return y[: self._length], left[: self._length], right[: self._length]


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False  # of this view, not of the buffer behind it
    return array
