"""A TCP proxy on loopback that stands before a real server and makes it dead, hanging, slow, or talking nonsense."""

import contextlib
import random
import socket
import struct
import threading
import time
from enum import StrEnum

from vitto_tools.local.servers import HOST

CHUNK = 65536
NONSENSE = random.Random(7).randbytes(600)  # noqa: S311 - nothing secret, and the same each time
SLOW_SECONDS = 0.15
_RESET = struct.pack("ii", 1, 0)  # close with a reset, as a process that is killed does


class Trouble(StrEnum):
    """What is wrong with a store."""

    NONE = "none"
    DEAD = "dead"
    HANGING = "hanging"
    SLOW = "slow"
    GARBAGE = "garbage"


class TroubledServer:
    """The proxy. `trouble` may be set at any time; `asked` counts what clients have sent, a chunk at a time."""

    def __init__(self, port: int, slow_seconds: float = SLOW_SECONDS) -> None:
        self._upstream = port
        self._slow_seconds = slow_seconds
        self._lock = threading.Lock()
        self._clear = threading.Condition()
        self._trouble = Trouble.NONE
        self._open: set[socket.socket] = set()
        self._closed = False
        self.asked = 0
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    @property
    def trouble(self) -> Trouble:
        """What is wrong now."""
        return self._trouble

    @trouble.setter
    def trouble(self, trouble: Trouble) -> None:
        before, self._trouble = self._trouble, trouble
        if trouble is Trouble.DEAD:
            self._shut()
        elif before is Trouble.DEAD:
            self._listener = socket.create_server((HOST, self.port))
            threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()
        if trouble is not Trouble.HANGING:
            with self._clear:
                self._clear.notify_all()

    def close(self) -> None:
        """End for good."""
        self._closed = True
        self._shut()
        with self._clear:
            self._clear.notify_all()

    def _shut(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts, so that the port is free at once
        self._listener.close()
        with self._lock:
            sockets, self._open = self._open, set()
        for one in sockets:
            _end(one, reset=True)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection((HOST, self._upstream))
            except OSError:
                _end(client)
                continue
            with self._lock:
                self._open |= {client, server}
            threading.Thread(target=self._send, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answer, args=(client, server), daemon=True).start()

    def _send(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                self.asked += 1
                server.sendall(data)
        self._drop(client, server)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(CHUNK):
                with self._clear:
                    self._clear.wait_for(lambda: self._closed or self._trouble is not Trouble.HANGING)
                if self._trouble is Trouble.SLOW:
                    time.sleep(self._slow_seconds)
                client.sendall(NONSENSE if self._trouble is Trouble.GARBAGE else data)
        self._drop(client, server)

    def _drop(self, *sockets: socket.socket) -> None:
        with self._lock:
            self._open -= set(sockets)
        for one in sockets:
            _end(one)


def _end(one: socket.socket, *, reset: bool = False) -> None:
    with contextlib.suppress(OSError):
        if reset:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        one.shutdown(socket.SHUT_RDWR)
    one.close()
