"""A job's side of `sextant coschedule run`: a permit before each phase of an iteration, given back after it.

    permits = PhaseClient(socket, "job-a")
    while True:
        with permits.phase("rollout"):
            generate()
        with permits.phase("training"):
            train()

Needs only the standard library, so a program may copy this file. If the process ends, however it does, the system
closes the connection and the permit returns. Not for several threads at a time.
"""

import contextlib
import functools
import socket as sockets
from typing import Any, Callable, Iterator, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class PhaseError(RuntimeError):
    """The server refused a request, or is gone."""


class PhaseClient:
    """A connection of one job."""

    def __init__(self, socket: str, job: str) -> None:
        self._socket = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        try:
            self._socket.connect(socket)
        except OSError as error:
            self._socket.close()
            raise PhaseError(f"{socket}: no permit server: {error.strerror}") from error
        self._answers = self._socket.makefile("r", encoding="utf-8", newline="\n")
        try:
            self._expect(f"hello {job}", "ok")
        except PhaseError:
            self.close()
            raise

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def __enter__(self) -> "PhaseClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def acquire(self, phase: str) -> None:
        """Waits for the nodes of "rollout", "training" or "sync"."""
        self._expect(f"acquire {phase}", "granted")

    def release(self) -> None:
        self._expect("release", "ok")

    def progress(self, ended_fraction: float) -> bool:
        """In a rollout: the share of its responses that have ended, 0 to 1.

        True: move the others to a few workers now, and leave the rest of the nodes to other jobs. The permit is still
        to be given back at the end of the rollout. Raises PhaseError with the reason if the server took the permit
        back, because the phase had neither ended nor progressed for too long.
        """
        request = f"progress {ended_fraction:f}"
        answer = self._ask(request)
        if answer not in ("keep", "move"):
            raise PhaseError(f"{request}: {answer}")
        return answer == "move"

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.acquire(name)
        try:
            yield
        finally:
            self.release()

    def in_phase(self, name: str) -> Callable[[Function], Function]:
        """A decorator: the function runs with a permit of the phase."""

        def decorate(function: Function) -> Function:
            @functools.wraps(function)
            def with_permit(*arguments: Any, **options: Any) -> Any:
                with self.phase(name):
                    return function(*arguments, **options)

            return with_permit  # type: ignore[return-value]

        return decorate

    def _ask(self, request: str) -> str:
        try:
            self._socket.sendall(f"{request}\n".encode())
            answer = self._answers.readline()
        except OSError as error:
            raise PhaseError(f"the permit server is gone: {error.strerror}") from error
        if not answer:
            raise PhaseError("the permit server is gone")
        return answer.rstrip("\n")

    def _expect(self, request: str, answer: str) -> None:
        got = self._ask(request)
        if got != answer:
            raise PhaseError(f"{request}: {got}")
