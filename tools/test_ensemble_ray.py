#!/usr/bin/env python3
"""Tests `ensemble_ray.py` on processes of this machine and, where Ray is installed, on a local cluster of Ray: a worker that is killed in
the middle, a node that is added, every index once, the bytes of rows that one thread gives; Ctrl-C, SIGTERM, and a folder of another seed.

  python3 tools/test_ensemble_ray.py PROGRAM [processes|ray]
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import ensemble_ray

ROWS, PART = 100_000, 4_000


def words(program, folder, engine, seed=5):
    words = ["--program", program, "--model", "hopper", "--range", f"0..{ROWS}", "--seed", str(seed), "--rows", str(PART)]
    return words + ["--folder", f"{folder}/parts", "--out", f"{folder}/all.csv", "--pictures", folder, "--engine", engine, "--workers", "2"]


def parts(folder):
    return [name for name in os.listdir(f"{folder}/parts") if not name.startswith(".")]


def children(pattern):
    """Processes of this user, below this one, whose command line has a pattern."""
    table = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in table.stdout.splitlines()[1:]]
    parents = {int(pid): int(ppid) for pid, ppid, _ in rows}

    def is_own(pid):
        while pid > 1:
            if pid == os.getpid():
                return True
            pid = parents.get(pid, 0)
        return False

    return [int(pid) for pid, _, line in rows if pattern in line and is_own(int(pid))]


def kill_soon(pattern, folder, killed):
    """Kills one process with a pattern when some parts are there. Between two tasks a worker has another name."""
    there = 0
    while not killed and there < ROWS // PART:
        time.sleep(0.01)
        there = len(parts(folder))
        for pid in children(pattern)[:1] if there >= 5 else []:
            # It may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)


def check(program, engine, pattern, meanwhile=lambda: None):
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/parts")
        one = f"{folder}/one.csv"
        args = ensemble_ray.arguments(words(program, folder, engine))
        started = time.perf_counter()
        subprocess.run(ensemble_ray.program(args, args.range, "--out", one, "--threads", "1"), check=True)
        alone = time.perf_counter() - started
        killed = []
        killer = threading.Thread(target=kill_soon, args=(pattern, folder, killed))
        killer.start()
        started = time.perf_counter()
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(ensemble_ray.run, args)
            meanwhile()
            tasks = run.result()
        took = time.perf_counter() - started
        killer.join()
        assert tasks == ROWS // PART, tasks
        assert killed, "nothing was killed"
        with open(one, "rb") as one, open(args.out, "rb") as merged:
            one, merged = one.read(), merged.read()
        assert one == merged, "rows differ"
        indices = [int(line.split(b",")[0]) for line in merged.splitlines() if line[:1].isdigit()]
        assert indices == list(range(ROWS)), "an index is missing, or twice"
        # Called again it has nothing to do.
        assert ensemble_ray.run(args) == 0
        # What is there is of another seed, or the program is not there: nothing is made, and the reason is told.
        for more, reason in ((words(program, folder, engine, seed=6), "its seed is 5, not 6"), (words("nowhere", folder, engine), "not found")):
            code, said = Script(more).finish()
            assert code == 1 and reason in said and "Traceback" not in said, (code, said)
            with open(args.out, "rb") as out:
                assert out.read() == merged, "the table is another"
        print(f"{engine}: killed process {killed[0]}; {ROWS} rows, {len(merged)} bytes equal; one thread {alone:.1f} s, two workers {took:.1f} s")


class Script:
    """The script as from a terminal: a group of processes of its own, which hears Ctrl-C also where this test runs in the background."""

    def __init__(self, words):
        hears = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); import runpy; sys.argv = sys.argv[1:]"
        script = [sys.executable, "-c", f"{hears}; runpy.run_path(sys.argv[0], run_name='__main__')", ensemble_ray.__file__, *words]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(script, stdout=subprocess.DEVNULL, stderr=pipe, text=True, start_new_session=True)

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)

    def finish(self):
        said = self.process.communicate(timeout=120)[1]
        return self.process.returncode, said


def check_interrupt(program, engine):
    """Ctrl-C ends it at once and says so; the same command goes on."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/parts")
        run = Script(words(program, folder, engine))
        while len(parts(folder)) < 5:
            assert run.process.poll() is None, run.finish()
            time.sleep(0.01)
        run.interrupt()
        since = time.perf_counter()
        code, said = run.finish()
        took = time.perf_counter() - since
        assert code == 1 and "interrupted; the same command goes on" in said, (code, said)
        assert "Traceback" not in said and "tried again" not in said, said
        args = ensemble_ray.arguments(words(program, folder, engine))
        left = sum(stop - start for start, stop in ensemble_ray.missing(args))
        assert left > ROWS // 4, left
        code, said = Script(words(program, folder, engine)).finish()
        assert code == 0, said
        with open(args.out, "rb") as merged:
            indices = [int(line.split(b",")[0]) for line in merged if line[:1].isdigit()]
        assert indices == list(range(ROWS)), "an index is missing, or twice"
        print(f"{engine}: ended {took:.1f} s after Ctrl-C, {left} rows left, which are made by the same command")


def check_signals(program):
    """The end that Slurm gives keeps the rows that are done, as Ctrl-C does."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with tempfile.TemporaryDirectory() as folder:
            task = [program, "--model", "plate", "--range", "0..100000000", "--out", f"{folder}/parts", "--rows-a-part", "100000000"]
            with subprocess.Popen(task, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
                time.sleep(1)
                run.send_signal(number)
                said = run.communicate(timeout=60)[1]
            assert run.returncode == 1 and "interrupted" in said, (run.returncode, said)
            names = os.listdir(f"{folder}/parts")
            assert len(names) == 1 and names[0].endswith(".csv"), names
            print(f"{number.name}: kept {names[0]}")


def ray_cluster(program):
    from ray.cluster_utils import Cluster
    import ray

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    ray.init(address=cluster.address, log_to_driver=False)

    def add():
        time.sleep(1)
        cluster.add_node(num_cpus=1)

    try:
        check(program, "ray", "ray::make", add)
        assert len(ray.nodes()) == 2, "the node was not added"
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    program, engines = sys.argv[1], sys.argv[2:] or ["processes", "ray"]
    if "processes" in engines:
        check_signals(program)
        check(program, "processes", "--threads 1")
        check_interrupt(program, "processes")
    if "ray" in engines:
        check_interrupt(program, "ray")
        ray_cluster(program)
