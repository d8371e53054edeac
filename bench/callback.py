"""Messages/s and CPU per message through a callback of the library: a backlog of 1 KB messages that is handled as fast
as it goes, each durably settled."""
import json
import os
import subprocess

from bench import ROOT, ROUNDS, Folder, median

PROGRAM = os.path.join(ROOT, "build", "bench", "callback")
MESSAGES = 100000


def once():
    with Folder() as folder:
        done = subprocess.run([PROGRAM, folder, str(MESSAGES)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    runs = [once() for _ in range(ROUNDS)]
    print(f"callback: {median(run['per_s'] for run in runs):,.0f} messages/s, "
          f"{median(run['cpu_us'] for run in runs):.1f} µs of CPU a message")


if __name__ == "__main__":
    main()
