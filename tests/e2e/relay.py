"""A way to a broker that ends at a spot: for what a kill between two steps leaves behind."""
import socket
import threading


class Relay:
    """Passes on what impound and the broker say, until impound says `mark`. From there on it is silent both
    ways; with `heard` the broker still hears impound, and impound no answer; with `waits` it says it once `go`
    is set, and all is as before. `said` is what impound said from the mark on, `told` what the broker said."""

    def __init__(self, port, mark, heard=False, waits=False):
        self.to, self.mark, self.heard, self.waits = port, mark, heard, waits
        self.reached, self.go = threading.Event(), threading.Event()
        self.said, self.told = b"", b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = [self.listener]
        self.start(self.accept)

    @staticmethod
    def start(function, *args):
        threading.Thread(target=function, args=args, daemon=True).start()

    def accept(self):
        try:
            while True:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to))
                self.sockets += [near, far]
                self.start(self.pump, near, far, self.cut)
                self.start(self.pump, far, near, self.answer)
        except OSError:
            pass  # it was closed

    def is_silent(self):
        return self.reached.is_set() and not self.waits

    def answer(self, _, data):
        self.told += data
        return b"" if self.is_silent() else data

    def cut(self, before, data):
        """What is passed on of `data`, which comes behind the last bytes of what was."""
        if not self.reached.is_set():
            at = (before + data).find(self.mark)
            if at < 0:
                return data
            self.reached.set()
            self.said = (before + data)[at:]
            if self.waits:
                self.go.wait()
            return data if self.heard or self.waits else data[:max(0, at - len(before))]
        self.said += data
        return data if self.heard or self.waits else b""

    def pump(self, source, sink, cut):
        before = b""
        try:
            while data := source.recv(65536):
                sink.sendall(cut(before, data))
                before = (before + data)[1 - len(self.mark):]
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of them is gone

    @staticmethod
    def end(one):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it was not connected any more
        one.close()

    def hang_up(self):
        """Ends the connections of now; new ones are taken."""
        while len(self.sockets) > 1:
            self.end(self.sockets.pop())

    def close(self):
        self.go.set()
        for one in self.sockets:
            self.end(one)
