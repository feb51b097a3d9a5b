#!/usr/bin/env python3
"""Makes a range of an ensemble by ranges, as tasks of Ray that are retried, and merges the parts.

The work is that of the example program `ensemble`: a task is one of its parts. Rows depend on their index alone, and a part appears
when it is whole, so that a task may be made twice, by any worker, and a run that was ended is taken up by calling this again. Workers
share the folder of the parts and the program (a network disk, for several machines).

  tools/ensemble_ray.py --model plate --range 0..1000000 --seed 1 --folder parts --out plate.csv

Nothing of Ray is imported for `--engine processes`, which has a few processes of this machine do the same.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/examples/ensemble", help="built with --features parallel[,arrow]")
    parser.add_argument("--model", required=True, help="hopper, plate or block")
    parser.add_argument("--range", required=True, help="A..B, indices")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", required=True, help="of the parts")
    parser.add_argument("--out", help="one table of all rows, .csv or .parquet")
    parser.add_argument("--pictures", default="target/pictures")
    parser.add_argument("--parquet", action="store_true", help="parts are Parquet files")
    parser.add_argument("--rows", type=int, default=10_000, help="of a task: what a killed worker costs (default 10000)")
    parser.add_argument("--retries", type=int, default=5, help="of a task (default 5)")
    parser.add_argument("--engine", choices=["ray", "processes"], default="ray")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes of this machine, where no cluster is given")
    parser.add_argument("--address", help="of a Ray cluster")
    return parser.parse_args(words)


def program(args, *flags):
    """The command line that all calls of the program have in common."""
    return [os.path.abspath(args.program), "--model", args.model, "--seed", str(args.seed), *flags]


def missing(args):
    """The ranges that no part has, cut to tasks."""
    listed = subprocess.run(program(args, "--range", args.range, "--missing", args.folder), check=True, capture_output=True, text=True)
    for line in listed.stdout.split():
        start, end = map(int, line.split(".."))
        while start < end:
            stop = min(start + args.rows, end)
            yield start, stop
            start = stop


def command(args, start, end):
    """Makes one part, on one thread: workers are the threads."""
    ending = "parquet" if args.parquet else "csv"
    out = os.path.join(os.path.abspath(args.folder), f"{start}-{end}.{ending}")
    return program(args, "--range", f"{start}..{end}", "--out", out, "--threads", "1")


def make(task):
    """What a worker does. An error of the program, or its end by a signal, is an exception, and the task is tried again."""
    done = subprocess.run(task, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(task)}: exit code {done.returncode}: {done.stderr.strip()}")


def on_processes(args, tasks):
    """Yields once for each task that is done."""

    def persistent(task):
        for attempt in range(args.retries + 1):
            try:
                return make(task)
            except RuntimeError as error:
                if attempt == args.retries:
                    raise
                print(f"tried again: {error}", file=sys.stderr)

    with ThreadPoolExecutor(args.workers) as pool:
        for future in as_completed([pool.submit(persistent, task) for task in tasks]):
            yield future.result()


def on_ray(args, tasks):
    """Yields once for each task that is done. A worker that dies costs its task, which another one makes."""
    import ray

    if not ray.is_initialized():
        local = {"num_cpus": args.workers, "include_dashboard": False} if args.address is None else {}
        ray.init(address=args.address, log_to_driver=False, **local)
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
    merge = program(args, "--merge", args.folder, "--pictures", args.pictures)
    subprocess.run(merge + (["--out", args.out] if args.out else []), check=True)
    return len(tasks)


if __name__ == "__main__":
    run(arguments())
