# SPDX-License-Identifier: Apache-2.0
"""An asyncio event loop in its own thread, for callers in other threads."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")
LONGEST_STOP = 10.0
"""Longest time in [s] for tasks to end."""


class LoopThread:
    """Runs coroutines in a background thread, which starts at once."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, ResultT], timeout: float | None = None) -> ResultT:
        """Run a coroutine in the loop and return its result. Do not call it from the loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def start(self, work: Coroutine[Any, Any, Any]) -> "concurrent.futures.Future[Any]":
        """Run a coroutine without waiting for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def call(self, function: Callable[..., object], *args: Any) -> bool:
        """Call a function in the loop; False if the loop has ended."""
        try:
            self.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            return False
        return True

    def stop(self) -> None:
        """Cancel all tasks and end the thread; safe to call twice."""
        if self.loop.is_closed():
            return
        with contextlib.suppress(concurrent.futures.TimeoutError, RuntimeError):
            self.run(self._cancel_all(), LONGEST_STOP)
        self.call(self.loop.stop)
        self._thread.join(LONGEST_STOP)

    async def _cancel_all(self) -> None:
        await cancel_and_wait(asyncio.all_tasks() - {asyncio.current_task()})

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()


async def cancel_and_wait(tasks: "Iterable[asyncio.Future[Any] | None]") -> None:
    """Cancel tasks and wait until they end; results and errors are dropped.

    Cancellation is repeated, because one is lost when it coincides with the end of the awaited
    operation.
    """
    pending = {task for task in tasks if task is not None}
    while pending := {task for task in pending if not task.done()}:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=0.1)
