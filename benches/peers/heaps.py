#!/usr/bin/env python3
"""Heaps of examples/clutter beside MuJoCo and Drake: the same scene and step, one thread, one run.

    python3 -m venv peers && peers/bin/pip install mujoco drake
    peers/bin/python benches/peers/heaps.py [--bodies 40 80 160] [--open] [--cone] [--tf 10] [--limit 150]

Written for MuJoCo 4.0.0 and Drake 1.51.1; one that is not installed is said to be left out. saltation runs Coulomb's law, or
with --cone the cone of Castro et al., which is also Drake's. MuJoCo has the parameters for which its convex problem is, contact
by contact, that of the paper near the rigid limit (beta = 1, sigma = 1e-3, tau = dt), but for its estimate of the inertia at a
contact. Drake takes boxes by their corners, as spheres of a micrometre. Printed are mean times of a step in the first and the last
two seconds by the clock of the thread (of saltation by that on the wall), and their ratios.
"""
import argparse
import csv
import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP, TAU, SIGMA = 0.01, 0.01, 1e-3


def saltation(setup, bodies, folder):
    """The scene, and milliseconds of each step."""
    scene, steps = folder / "scene.json", folder / "steps.csv"
    flags = ["--bodies", str(bodies), "--tf", str(setup.tf), "--most", "0", "--scene", scene, "--csv", steps]
    flags += [] if setup.cone else ["--coulomb"]
    flags += ["--no-walls"] if setup.open else []
    cargo = ["cargo", "run", "--quiet", "--profile", "user", "--features", "serde", "--example", "clutter", "--"]
    subprocess.run(cargo + flags + ["--pictures", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    parts = ("motion_s", "geometry_s", "build_s", "solve_s")
    with steps.open() as file:
        times = [1e3 * sum(float(row[part]) for part in parts) for row in csv.DictReader(file)]
    return json.loads(scene.read_text())["bodies"], times


def placed(body):
    """Position and quaternion (w first) of a body of a scene's document."""
    return body.get("position") or [0.0] * 3, body.get("orientation") or [1.0, 0.0, 0.0, 0.0]


def steps_of(step, count, limit):
    """Milliseconds of the thread for each step; fewer where the limit (s) is reached."""
    times, began = [], time.time()
    for _ in range(count):
        before = time.thread_time()
        step()
        times.append(1e3 * (time.thread_time() - before))
        if time.time() - began > limit:
            break
    return times


def with_mujoco(bodies, count, limit):
    import mujoco

    # The impedance and the reference that give R_n and v_n of the paper, and R_t = sigma R_n 4 pi^2.
    impedance = 1 / (1 + 1 / (4 * math.pi**2))
    reference = (-impedance / (STEP * (STEP + TAU)), -impedance / STEP)
    lines = [
        f'<mujoco><option timestep="{STEP}" gravity="0 0 -9.81" solver="Newton" cone="elliptic" iterations="100"'
        f' tolerance="1e-8" impratio="{1 / (4 * math.pi**2 * SIGMA)}"/><size memory="2G"/>',
        f'<default><geom friction="1 0 0" condim="3" density="1000" solref="{reference[0]} {reference[1]}"'
        f' solimp="{impedance} {impedance} 0.001 0.5 2"/></default><worldbody>',
    ]
    for body in bodies:
        shape, (at, turn) = body["shape"], placed(body)
        pose = f'pos="{at[0]} {at[1]} {at[2]}" quat="{turn[0]} {turn[1]} {turn[2]} {turn[3]}"'
        if shape == "plane":
            lines.append(f'<geom type="plane" size="20 20 1" {pose}/>')
            continue
        if "sphere" in shape:
            size, kind = str(shape["sphere"]["radius"]), "sphere"
        else:
            size, kind = " ".join(map(str, shape["cuboid"]["half"])), "box"
        lines.append(f'<body {pose}><freejoint/><geom type="{kind}" size="{size}"/></body>')
    model = mujoco.MjModel.from_xml_string("".join(lines) + "</worldbody></mujoco>")
    data = mujoco.MjData(model)
    times = steps_of(lambda: mujoco.mj_step(model, data), count, limit)
    return f"MuJoCo {mujoco.__version__}", times


def with_drake(bodies, count, limit):
    import importlib.metadata

    import numpy as np
    from pydrake.common.eigen_geometry import Quaternion
    from pydrake.geometry import AddContactMaterial, Box, HalfSpace, ProximityProperties, Sphere
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
    from pydrake.multibody.tree import SpatialInertia
    from pydrake.systems.analysis import Simulator
    from pydrake.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    config = MultibodyPlantConfig(time_step=STEP, contact_model="point", discrete_contact_approximation="sap")
    plant, _ = AddMultibodyPlant(config, builder)
    # Stiffnesses are in series and times add up: two alike make a contact of 1e12 N/m and TAU.
    material = ProximityProperties()
    AddContactMaterial(None, 2e12, CoulombFriction(1.0, 1.0), material)
    material.AddProperty("material", "relaxation_time", 0.5 * TAU)
    free = []
    for number, body in enumerate(bodies):
        shape, (at, turn) = body["shape"], placed(body)
        pose = RigidTransform(Quaternion(np.array(turn) / np.linalg.norm(turn)), at)
        name = f"b{number}"
        if shape == "plane":
            plant.RegisterCollisionGeometry(plant.world_body(), pose, HalfSpace(), name, material)
            continue
        if "sphere" in shape:
            radius = shape["sphere"]["radius"]
            link = plant.AddRigidBody(name, SpatialInertia.SolidSphereWithDensity(1000.0, radius))
            plant.RegisterCollisionGeometry(link, RigidTransform(), Sphere(radius), name, material)
        else:
            half = np.array(shape["cuboid"]["half"])
            link = plant.AddRigidBody(name, SpatialInertia.SolidBoxWithDensity(1000.0, *(2 * half)))
            plant.RegisterCollisionGeometry(link, RigidTransform(), Box(*(2 * half)), name, material)
            for k in range(8):
                corner = half * [1 - 2 * (k >> bit & 1) for bit in range(3)]
                plant.RegisterCollisionGeometry(link, RigidTransform(corner), Sphere(1e-6), f"{name}_{k}", material)
        free.append((link, pose))
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -9.81])
    plant.Finalize()
    simulator = Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    for link, pose in free:
        plant.SetFreeBodyPose(context, link, pose)
    simulator.Initialize()
    ends = iter(range(1, count + 1))
    times = steps_of(lambda: simulator.AdvanceTo(next(ends) * STEP), count, limit)
    return f"Drake {importlib.metadata.version('drake')}", times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, nargs="+", default=[40, 80, 160])
    parser.add_argument("--open", action="store_true", help="without walls")
    parser.add_argument("--cone", action="store_true", help="the cone of friction in place of Coulomb's law")
    parser.add_argument("--tf", type=float, default=10.0, help="end of the runs (s)")
    parser.add_argument("--limit", type=float, default=150.0, help="longest run of a peer (s)")
    setup = parser.parse_args()
    count, part = round(setup.tf / STEP), round(2.0 / STEP)
    print("| bodies | engine | ms a step, first 2 s | last 2 s | saltation's part of it: first, last |")
    print("|---|---|---|---|---|")
    for bodies in setup.bodies:
        with tempfile.TemporaryDirectory() as folder:
            scene, own = saltation(setup, bodies, Path(folder))
        means = [sum(part_) / len(part_) for part_ in (own[:part], own[-part:])]
        print(f"| {bodies} | saltation | {means[0]:.3f} | {means[1]:.3f} | |", flush=True)
        for run in (with_mujoco, with_drake):
            try:
                name, times = run(scene, count, setup.limit)
            except ImportError as missing:
                print(f"| {bodies} | left out: {missing} | | | |", flush=True)
                continue
            first, last = (sum(of) / len(of) for of in (times[:part], times[-part:]))
            cut = "" if len(times) == count else f" (ended at {len(times) * STEP:.2f} s)"
            ratios = f"{means[0] / first:.2f}, {means[1] / last:.3f}"
            print(f"| {bodies} | {name}{cut} | {first:.3f} | {last:.3f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
