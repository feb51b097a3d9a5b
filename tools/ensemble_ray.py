#!/usr/bin/env python3
"""Makes a range of an ensemble by ranges, as tasks of Ray that are retried, and merges the parts.

The work is that of a program such as the examples `ensemble` and `own_ensemble`: a task is a part of its folder. Rows depend on their index alone, and a
part appears when it is whole, so that a task may be made twice, by any worker, and a run that was ended is taken up by calling this
again. Workers share the folder of the parts and the program (a network disk, for several machines).

  tools/ensemble_ray.py --model plate --seed 1 --range 0..1000000 --folder parts --out plate.csv

Flags that are not listed here are the program's, and are handed on to it: `--model`, `--seed`. It is called with them and

  --range A..B --missing DIR                prints the ranges that are missing, one a line
  --range A..B --out DIR --threads 1        makes them
  --range A..B --merge DIR [--out FILE]     one table

Nothing of Ray is imported for `--engine processes`, which has a few processes of this machine do the same.
"""

import argparse
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--program", default="target/release/examples/ensemble", help="built with --features parallel[,arrow]")
    parser.add_argument("--range", required=True, help="A..B, indices")
    parser.add_argument("--folder", required=True, help="of the parts")
    parser.add_argument("--out", help="one table of all rows of the folder, .csv or .parquet")
    parser.add_argument("--rows", type=int, default=10_000, help="of a task: what a killed worker costs (default 10000)")
    parser.add_argument("--retries", type=int, default=5, help="of a task (default 5)")
    parser.add_argument("--engine", choices=["ray", "processes"], default="ray")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes of this machine, where no cluster is given")
    parser.add_argument("--address", help="of a Ray cluster (default: one of this machine, for this call)")
    args, args.handed_on = parser.parse_known_args(words)
    if not os.path.isfile(args.program):
        sys.exit(f"not found: {args.program}; build it (cargo build --release --features parallel --example ensemble), or give --program")
    return args


def program(args, indices, *flags):
    """The command line that all calls of the program have in common."""
    return [os.path.abspath(args.program), *args.handed_on, "--range", indices, *flags]


def called(command, **more):
    """Calls the program here. It has told its reason when it fails."""
    done = subprocess.run(command, text=True, **more)
    if done.returncode != 0:
        sys.exit(1)
    return done.stdout


def missing(args):
    """The ranges that no part has, cut to tasks."""
    for line in called(program(args, args.range, "--missing", args.folder), stdout=subprocess.PIPE).split():
        start, end = map(int, line.split(".."))
        while start < end:
            stop = min(start + args.rows, end)
            yield start, stop
            start = stop


def command(args, start, end):
    """Makes one part, on one thread: workers are the threads."""
    return program(args, f"{start}..{end}", "--out", os.path.abspath(args.folder), "--threads", "1")


def make(task):
    """What a worker does. An error of the program, or its end by a signal, is an exception, and the task is tried again."""
    done = subprocess.run(task, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(task)}: exit code {done.returncode}: {done.stderr.strip()}")


def on_processes(args, tasks):
    """Yields once for each task that is done."""
    ends = threading.Event()

    def persistent(task):
        for attempt in range(args.retries + 1):
            try:
                return make(task)
            except RuntimeError as error:
                # Ctrl-C ends the program too, which may be known here before the main thread has heard of it.
                if attempt == args.retries or ends.wait(0.2):
                    raise
                print(f"tried again: {error}", file=sys.stderr)

    pool = ThreadPoolExecutor(args.workers)
    try:
        for future in as_completed([pool.submit(persistent, task) for task in tasks]):
            yield future.result()
    finally:
        ends.set()
        pool.shutdown(cancel_futures=True)


def on_ray(args, tasks):
    """Yields once for each task that is done. A worker that dies costs its task, which another one makes."""
    import ray

    if not ray.is_initialized():
        # Without "local" Ray takes a cluster that runs on this machine, or the trace of one that ran.
        local = {"address": "local", "num_cpus": args.workers, "include_dashboard": False}
        ray.init(log_to_driver=False, **({"address": args.address} if args.address else local))
    remote = ray.remote(num_cpus=1, max_retries=args.retries, retry_exceptions=True)(make)
    waiting = [remote.remote(task) for task in tasks]
    while waiting:
        done, waiting = ray.wait(waiting)
        yield ray.get(done[0])


def run(args):
    """Makes what is missing, and merges; the number of tasks."""
    os.makedirs(args.folder, exist_ok=True)
    tasks = [command(args, start, end) for start, end in missing(args)]
    engine = {"ray": on_ray, "processes": on_processes}[args.engine]
    for count, _ in enumerate(engine(args, tasks) if tasks else (), 1):
        print(f"\r{count} of {len(tasks)} parts", end="", file=sys.stderr)
    print(file=sys.stderr)
    left = list(missing(args))
    if left:
        sys.exit(f"missing: {left}")
    called(program(args, args.range, "--merge", args.folder, *(["--out", args.out] if args.out else [])))
    return len(tasks)


if __name__ == "__main__":
    try:
        run(arguments())
    except KeyboardInterrupt:
        sys.exit("\ninterrupted; the same command goes on from here")
    except RuntimeError as error:
        sys.exit(f"\n{error}")
