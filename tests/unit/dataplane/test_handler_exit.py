"""A handler that ends the program: what is said to the driver, and in which order."""

from __future__ import annotations

import threading

from legacy_mm.base.reports import Frame
from legacy_mm.dataplane.handler_exit import HandlerExit
from legacy_mm.runtime.channel.frames import Exit


def test_a_script_that_exits_is_told_once() -> None:
    frames: list[Frame] = []
    ending = HandlerExit(lambda: None, frames.append)
    assert not ending.asked
    ending.ask(3)
    assert (ending.asked, frames) == (True, [])
    for _ in range(2):
        ending.report()
    assert frames == [Exit(3)]
    ending.wait_for_code()


def test_java_waits_for_the_engine_where_another_thread_has_called_exit() -> None:
    frames: list[Frame] = []
    ending = HandlerExit(lambda: frames.append(Exit(99)), frames.append)
    hook = threading.Thread(target=lambda: ending.begun(stuck=False), daemon=True)
    hook.start()
    while not ending.asked:
        assert hook.is_alive()
    assert hook.is_alive()
    waiting = threading.Thread(target=ending.wait_for_code, daemon=True)
    waiting.start()
    hook.join(30)
    assert not hook.is_alive(), "the engine is done"
    assert frames == [], "nothing was sent for the engine"
    threading.Thread(target=lambda: ending.ended(7), daemon=True).start()
    waiting.join(30)
    assert frames == [Exit(7)]


def test_what_was_sent_is_proved_where_the_engine_never_comes_back() -> None:
    frames: list[Frame] = []
    proved: list[int] = []
    ending = HandlerExit(lambda: proved.append(len(frames)), frames.append)
    ending.begun(stuck=True)
    assert proved == [0], "before the driver hears of the end"
    assert frames == [Exit(0)]
