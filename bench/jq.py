"""jq jobs of one simple program through the helper processes: many at a time, beside one after the other."""
import json
import os
import subprocess

from bench import ROOT, ROUNDS, median

JQ = os.path.join(ROOT, "build", "bench", "jq")
IMPOUND = os.path.join(ROOT, "build", "impound")
JOBS = 20000
AT_ONCE = 100


def measure(at_once):
    """(jobs/s, CPU µs of a job, ms of the first one)"""
    done = subprocess.run([JQ, IMPOUND, str(JOBS), str(at_once)], capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    return figures["per_s"], figures["cpu_us"], figures["first_ms"]


def main():
    many, single = [], []
    for _ in range(ROUNDS):
        many.append(measure(AT_ONCE))
        single.append(measure(1))
    rate, cost, first = (median(values) for values in zip(*many))
    one_rate, one_cost, _ = (median(values) for values in zip(*single))
    print(f"jq: one program on 1 KB: {rate:,.0f} jobs/s of {AT_ONCE} at a time ({cost:.0f} µs of CPU each), "
          f"{one_rate:,.0f}/s one after the other ({one_cost:.0f} µs); the first, with its helper and "
          f"compiling: {first:.0f} ms")


if __name__ == "__main__":
    main()
