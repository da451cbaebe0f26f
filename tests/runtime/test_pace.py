from __future__ import annotations

from hybrid.runtime.pace import Pace


def after(pace: Pace, batches: int, wall: float, used: float) -> int:
    for _ in range(batches):
        pace.note(wall, used)
    return pace.threads


def test_all_threads_are_used_while_they_all_run() -> None:
    assert after(Pace(2), 500, 0.01, 0.0195) == 2


def test_one_thread_is_used_once_others_take_the_cores() -> None:
    pace = Pace(2)
    assert pace.note(1.0, 1.1) == 1
    assert pace.note(0.02, 0.01) == 1


def test_a_short_moment_is_not_judged() -> None:
    assert Pace(2).note(0.01, 0.0) == 2


def test_all_threads_are_tried_again_after_a_rest_that_grows() -> None:
    pace = Pace(4)
    rests = []
    for _ in range(6):
        assert pace.note(1.0, 1.5) == 1
        steps = 0
        while pace.threads == 1:
            pace.note(0.5, 0.4)
            steps += 1
        rests.append(steps / 2)
    assert rests == [2, 4, 8, 16, 30, 30]
    assert pace.note(1.0, 3.9) == 4
    assert pace.note(1.0, 1.0) == 1
    assert after(pace, 4, 0.5, 0.4) == 4


def test_a_single_thread_stays_one() -> None:
    assert after(Pace(1), 50, 1.0, 0.2) == 1
