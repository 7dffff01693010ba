"""Measure the service on a file of this machine: requests a second, from one process and from several, and starting.

Run ``.venv/bin/python benchmarks/service.py [folder]``; the folder says which disk. A request is a choice, or the news
of it. Each is a commit that waits for the disk, so that this mostly measures the disk; the last two lines do not.
Machines differ and are shared.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fairlib as fl
from fairlib.service import Service
from fairlib.shares import fair_ucb

POLICY = fair_ucb([0.1] * 6)
REQUESTS = 2000
WORKER = """
import sys
from benchmarks import service
made = service.Service(sys.argv[1], service.POLICY)
sys.stdin.readline()
service.ask(made, sys.argv[2])
"""


def ask(service: Service, name: str) -> None:
    """Ask half of the requests, and tell what came of each."""
    for i in range(REQUESTS // 2):
        service.choose(f"{name} {i}")
        service.observe(f"{name} {i}", 1.0)


def with_processes(file: Path, number: int) -> float:
    """Return the requests a second that several processes are given together."""
    command = [sys.executable, "-c", WORKER, str(file)]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen([*command, str(i)], stdin=pipe, text=True, cwd=ROOT) for i in range(number)]
    time.sleep(8.0)  # until all are there
    start = time.perf_counter()
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("\n")
        worker.stdin.close()
    assert [worker.wait() for worker in workers] == [0] * number
    return number * REQUESTS / (time.perf_counter() - start)


ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None))
    service = Service(folder / "one.db", POLICY)
    start = time.perf_counter()
    ask(service, "visit")
    print(f"1 process:   {REQUESTS / (time.perf_counter() - start):6.0f} requests a second")
    start = time.perf_counter()
    for i in range(REQUESTS // 2):
        service.choose(f"visit {i}")
    print(f"asked again: {REQUESTS / 2 / (time.perf_counter() - start):6.0f} requests a second")
    print(f"2 processes: {with_processes(folder / 'two.db', 2):6.0f} requests a second")
    player = fl.Player(POLICY)
    start = time.perf_counter()
    for _ in range(REQUESTS // 2):
        player.observe(player.choose().round, 1.0)
    print(f"the player alone: {REQUESTS / (time.perf_counter() - start):6.0f} a second")
    start = time.perf_counter()
    Service(folder / "one.db", POLICY)
    print(f"starting: {REQUESTS / (time.perf_counter() - start):6.0f} rows of the log a second")
