"""Memory is given back bit by bit."""

import weakref

from inpaint_app.window.background.work import release_all, release_later


class Large:
    """Something whose end can be seen."""


def test_things_go_one_at_a_time_and_in_the_end_all_of_them(qtbot) -> None:
    things = [Large() for _ in range(3)]
    alive = [weakref.ref(thing) for thing in things]
    release_later(*things[:2])
    release_later(things[2])
    del things
    assert all(each() is not None for each in alive)
    seen = []

    def are_gone() -> bool:
        seen.append(sum(each() is not None for each in alive))
        return seen[-1] == 0

    qtbot.waitUntil(are_gone, timeout=600_000)
    assert seen == sorted(seen, reverse=True)


def test_all_goes_at_once_in_the_end(qtbot) -> None:
    thing = Large()
    alive = weakref.ref(thing)
    release_later(thing)
    del thing
    release_all()
    assert alive() is None
    qtbot.wait(5)
