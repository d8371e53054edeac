#!/usr/bin/env python3
"""Runs a command as the foreground job of the terminal: foreground.py COMMAND [WORD…]

make exits with an error after Ctrl-C, whatever its recipe does, because the terminal sends SIGINT to every process of
the foreground process group. The command gets a process group of its own, so that it alone is interrupted, and its exit
status is the recipe's. Without a terminal the command just runs."""
import os
import signal
import sys


def own_terminal():
    """The terminal, if this process group is in its foreground; otherwise None."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    return terminal if os.tcgetpgrp(terminal) == os.getpgrp() else None


def start(command, terminal):
    pid = os.fork()
    if pid:
        return pid
    if terminal is not None:
        os.setpgid(0, 0)
        os.tcsetpgrp(terminal, os.getpgrp())  # SIGTTOU is ignored until then
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as trouble:
        print(f"impound: {command[0]}: {trouble.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def wait(pid, terminal):
    """The wait status of its end. A job that is stopped (Ctrl-Z) stops this process group too."""
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED if terminal is not None else 0)
        if not os.WIFSTOPPED(status):
            return status
        os.tcsetpgrp(terminal, os.getpgrp())
        os.killpg(os.getpgrp(), signal.SIGSTOP)
        os.tcsetpgrp(terminal, pid)
        os.killpg(pid, signal.SIGCONT)


def main(command):
    terminal = own_terminal()
    if terminal is None:
        os.execvp(command[0], command)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pid = start(command, terminal)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, frame: os.killpg(pid, got))
    status = wait(pid, terminal)
    os.tcsetpgrp(terminal, os.getpgrp())
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.splitlines()[0])
    code = main(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
