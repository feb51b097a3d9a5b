"use strict";
// The scene: solids in a depth buffer of our own, so that bodies that touch or overlap hide each other
// pixel by pixel; lines, forces and words on a canvas above it. No perspective: lengths can be compared.

// Light on dark of the bodies in turn, as in the plots (Okabe and Ito, and two greys).
const COLOURS = [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178],
  [213, 94, 0], [204, 121, 167], [140, 140, 150], [150, 110, 70], [110, 160, 60]];
const FIXED = [205, 208, 214];
const css = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const plus = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];

// A pose from position and quaternion [x, y, z, w, i, j, k]: the three axes of the body, and its centre.
function poseOf(q) {
  const n = Math.hypot(q[3], q[4], q[5], q[6]) || 1;
  const [w, x, y, z] = [q[3] / n, q[4] / n, q[5] / n, q[6] / n];
  return {
    at: [q[0], q[1], q[2]],
    axes: [
      [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
      [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
      [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ],
  };
}
const toWorld = (pose, p) =>
  plus(plus(plus(pose.at, pose.axes[0], p[0]), pose.axes[1], p[1]), pose.axes[2], p[2]);

// A step of 1, 2 or 5 times a power of ten, at most `x`.
function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1) * power;
}
const short = (x) => String(Number(x.toPrecision(6)));

// Points and faces of a body in its own axes; none for spheres and planes, which are drawn as such.
function meshOf(body) {
  if (body.box) {
    const [x, y, z] = body.box;
    const points = [];
    for (let k = 0; k < 8; k++) points.push([k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z]);
    const faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    return { points, faces, edges: true };
  }
  if (body.capsule) {
    // Rings from pole to pole; both rings at the equators of the half balls are there.
    const [half, radius] = body.capsule;
    const [sides, rings] = [24, 12];
    const points = [];
    for (let i = 0; i <= rings; i++) {
      for (const end of i === rings / 2 ? [-half, half] : [i < rings / 2 ? -half : half]) {
        const angle = Math.PI * (i / rings - 0.5);
        for (let j = 0; j < sides; j++) {
          const turn = 2 * Math.PI * j / sides;
          const r = radius * Math.cos(angle);
          points.push([r * Math.cos(turn), r * Math.sin(turn), end + radius * Math.sin(angle)]);
        }
      }
    }
    const faces = [];
    for (let i = 0; i <= rings; i++) {
      for (let j = 0; j < sides; j++) {
        const next = (j + 1) % sides;
        faces.push([i * sides + j, i * sides + next, (i + 1) * sides + next, (i + 1) * sides + j]);
      }
    }
    return { points, faces };
  }
  return body.points ? { points: body.points, faces: body.faces } : null;
}
const radiusOf = (body) => body.sphere || (body.mesh ? Math.max(...body.mesh.points.map((p) => Math.hypot(...p))) : 0);

// The part of a polygon on which dot(normal, p) >= offset.
function clip(polygon, normal, offset) {
  const kept = [];
  polygon.forEach((p, i) => {
    const next = polygon[(i + 1) % polygon.length];
    const [a, b] = [dot(normal, p) - offset, dot(normal, next) - offset];
    if (a >= 0) kept.push(p);
    if ((a < 0) !== (b < 0)) kept.push(plus(p, plus(next, p, -1), a / (a - b)));
  });
  return kept;
}

// What is seen from where, and how many pixels a metre has.
class View {
  constructor(low, high, inPlane) {
    this.inPlane = inPlane;
    this.middle = low.map((x, k) => 0.5 * (x + high[k]));
    this.size = Math.max(1e-9, Math.hypot(...low.map((x, k) => high[k] - x)));
    this.reset();
    // How wide and how high the box is as it is seen first.
    const corners = [...Array(8).keys()].map((n) => low.map((x, k) => (n >> k & 1 ? high[k] : x)));
    this.need = [this.right, this.up].map((axis) => {
      const places = corners.map((p) => dot(axis, p));
      return Math.max(1e-9, Math.max(...places) - Math.min(...places));
    });
  }
  reset() {
    [this.turn, this.rise, this.zoom] = this.inPlane ? [0, 0, 1] : [0.5, 0.35, 1];
    this.centre = this.middle;
    this.look();
  }
  look() {
    const [s, c] = [Math.sin(this.turn), Math.cos(this.turn)];
    const [up, level] = [Math.sin(this.rise), Math.cos(this.rise)];
    this.right = [c, s, 0];
    this.towards = [s * level, -c * level, up];
    this.up = cross(this.towards, this.right);
  }
  fit(width, height) {
    [this.width, this.height] = [width, height];
    this.scale = 0.85 * this.zoom * Math.min(width / this.need[0], height / this.need[1]);
  }
  // Right, down in pixels, and towards the eye in metres.
  point(p) {
    const d = plus(p, this.centre, -1);
    return [0.5 * this.width + this.scale * dot(this.right, d),
      0.5 * this.height - this.scale * dot(this.up, d), dot(this.towards, d)];
  }
  vector(v) {
    return [dot(this.right, v), -dot(this.up, v), dot(this.towards, v)];
  }
  shift(dx, dy) {
    this.centre = plus(plus(this.centre, this.right, -dx / this.scale), this.up, dy / this.scale);
  }
}

// Two layers of pixels with depths: fixed bodies, and moving ones, which are seen through the first.
class Solids {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }
  begin(width, height) {
    const count = width * height;
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.image = this.context.createImageData(width, height);
      this.layers = [0, 1].map(() => ({ colour: new Uint32Array(count), depth: new Float32Array(count) }));
    }
    for (const layer of this.layers) {
      layer.colour.fill(0);
      layer.depth.fill(-Infinity);
    }
    [this.width, this.height] = [width, height];
  }
  // The light comes from the upper left, behind the eye; `n` as right, down, towards.
  shade(colour, n) {
    return this.pack(colour, 0.52 + 0.5 * this.light(n));
  }
  light(n) {
    return Math.max(0, -0.42 * n[0] - 0.55 * n[1] + 0.72 * n[2]);
  }
  pack(colour, light) {
    const tone = (c) => Math.min(255, c * light + 0.5 | 0);
    return (255 << 24 | tone(colour[2]) << 16 | tone(colour[1]) << 8 | tone(colour[0])) >>> 0;
  }
  // A flat convex face. Its depth is linear in pixels: dot(normal, point) is constant.
  face(layer, points, normal, scale, packed) {
    const [rx, ry] = [-normal[0] / normal[2] / scale, -normal[1] / normal[2] / scale];
    const { colour: colours, depth: depths } = layer;
    let [top, bottom] = [Infinity, -Infinity];
    for (const p of points) [top, bottom] = [Math.min(top, p[1]), Math.max(bottom, p[1])];
    const last = Math.min(this.height - 1, Math.floor(bottom - 0.5));
    for (let y = Math.max(0, Math.ceil(top - 0.5)); y <= last; y++) {
      let [left, right] = [Infinity, -Infinity];
      for (let i = 0; i < points.length; i++) {
        const [a, b] = [points[i], points[(i + 1) % points.length]];
        if ((a[1] <= y + 0.5) === (b[1] <= y + 0.5)) continue;
        const x = a[0] + (b[0] - a[0]) * (y + 0.5 - a[1]) / (b[1] - a[1]);
        [left, right] = [Math.min(left, x), Math.max(right, x)];
      }
      const first = Math.max(0, Math.ceil(left - 0.5));
      const end = Math.min(this.width - 1, Math.floor(right - 0.5));
      let depth = points[0][2] + (first + 0.5 - points[0][0]) * rx + (y + 0.5 - points[0][1]) * ry;
      for (let k = y * this.width + first; k <= y * this.width + end; k++, depth += rx) {
        if (depth <= depths[k]) continue;
        depths[k] = depth;
        colours[k] = packed;
      }
    }
  }
  // A line two pixels wide, a little nearer than what it lies on.
  line(layer, a, b, packed, bias) {
    const steps = Math.ceil(Math.max(Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1]), 1));
    if (steps > 20000) return;
    for (let i = 0; i <= steps; i++) {
      const s = i / steps;
      const [x, y] = [Math.round(a[0] + s * (b[0] - a[0])), Math.round(a[1] + s * (b[1] - a[1]))];
      const depth = a[2] + s * (b[2] - a[2]) + bias;
      for (const [px, py] of [[x, y], [x - 1, y], [x, y - 1], [x - 1, y - 1]]) {
        if (px < 0 || py < 0 || px >= this.width || py >= this.height) continue;
        const k = py * this.width + px;
        if (depth <= layer.depth[k]) continue;
        layer.depth[k] = depth;
        layer.colour[k] = packed;
      }
    }
  }
  // A ball, with eight parts in two tones, so that it is seen to turn.
  ball(layer, view, centre, radius, axes, colour) {
    const [cx, cy, cz] = view.point(centre);
    const r = radius * view.scale;
    const [u, v, w] = axes.map((axis) => view.vector(axis));
    const darker = colour.map((c) => 0.8 * c);
    const { colour: colours, depth: depths } = layer;
    const last = Math.min(this.height - 1, Math.floor(cy + r));
    for (let y = Math.max(0, Math.ceil(cy - r)); y <= last; y++) {
      const end = Math.min(this.width - 1, Math.floor(cx + r));
      const dy = (y - cy) / r;
      for (let x = Math.max(0, Math.ceil(cx - r)); x <= end; x++) {
        const dx = (x - cx) / r;
        const rest = 1 - dx * dx - dy * dy;
        if (rest <= 0) continue;
        const dz = Math.sqrt(rest);
        const k = y * this.width + x;
        const depth = cz + radius * dz;
        if (depth <= depths[k]) continue;
        const part = (u[0] * dx + u[1] * dy + u[2] * dz) * (v[0] * dx + v[1] * dy + v[2] * dz)
          * (w[0] * dx + w[1] * dy + w[2] * dz);
        depths[k] = depth;
        colours[k] = this.shade(part > 0 ? colour : darker, [dx, dy, dz]);
      }
    }
  }
  mesh(layer, view, body, pose, colour) {
    const world = body.mesh.points.map((p) => toWorld(pose, p));
    const points = world.map((p) => view.point(p));
    for (const face of body.mesh.faces) {
      // By the diagonals, of a quadrangle: at the poles of a capsule two of its points are one.
      const [a, b, c, d] = face.map((k) => world[k]);
      const normal = d ? cross(plus(c, a, -1), plus(d, b, -1)) : cross(plus(b, a, -1), plus(c, b, -1));
      const length = Math.hypot(...normal);
      const n = view.vector(normal.map((x) => x / length));
      // Surfaces that are not closed are seen from behind too.
      if (!(Math.abs(n[2]) > 1e-9) || (n[2] < 0 && !body.points)) continue;
      const lit = n[2] < 0 ? n.map((x) => -x) : n;
      const corners = face.map((k) => points[k]);
      this.face(layer, corners, n, view.scale, this.shade(colour, lit));
      if (!body.mesh.edges) continue;
      const ink = this.pack(colour, 0.4);
      corners.forEach((p, i) => this.line(layer, p, corners[(i + 1) % 4], ink, 2e-3 * view.size));
    }
  }
  // The visible part of a half-space: a rectangle with a grid. From behind, its outline.
  plane(layer, view, plane) {
    const n = view.vector(plane.normal);
    const corners = plane.outline.map((p) => view.point(p));
    const edge = this.pack(FIXED, 0.7);
    corners.forEach((p, i) => this.line(layer, p, corners[(i + 1) % corners.length], edge, 1e-3 * view.size));
    if (n[2] <= 1e-6) return;
    this.face(layer, corners, n, view.scale, this.pack([240, 242, 245], 0.84 + 0.16 * this.light(n)));
    const ink = this.pack(FIXED, 0.96);
    for (const [a, b] of plane.grid) this.line(layer, view.point(a), view.point(b), ink, 1e-3 * view.size);
  }
  // Moving bodies behind fixed ones are seen through them.
  show() {
    const out = new Uint32Array(this.image.data.buffer);
    const [fixed, moving] = this.layers;
    for (let k = 0; k < out.length; k++) {
      const below = fixed.colour[k];
      const above = moving.colour[k];
      if (above === 0) out[k] = below;
      else if (below === 0 || moving.depth[k] >= fixed.depth[k]) out[k] = above;
      else out[k] = (((above & 0xfefefe) >>> 1) + ((below & 0xfefefe) >>> 1) | 0xff000000) >>> 0;
    }
    this.context.putImageData(this.image, 0, 0);
  }
}

// The rectangle of a plane within the box that all motion needs, outside the other half-spaces.
function planeOf(body, others, low, high) {
  const pose = poseOf(body.pose);
  const normal = pose.axes[2];
  const reach = 4 * Math.hypot(...high.map((x, k) => x - low[k])) + 1e-9;
  const middle = low.map((x, k) => 0.5 * (x + high[k]));
  const foot = plus(middle, normal, dot(normal, plus(pose.at, middle, -1)));
  const [u, v] = [pose.axes[0], pose.axes[1]];
  let outline = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => plus(plus(foot, u, a * reach), v, b * reach));
  for (let k = 0; k < 3; k++) {
    const axis = [0, 0, 0];
    axis[k] = 1;
    outline = clip(clip(outline, axis, low[k]), axis.map((x) => -x), -high[k]);
  }
  for (const other of others) {
    const there = poseOf(other.pose);
    if (Math.abs(dot(there.axes[2], normal)) < 0.999) outline = clip(outline, there.axes[2], dot(there.axes[2], there.at));
  }
  const step = nice(reach / 40);
  const grid = [];
  for (const [along, across] of [[u, v], [v, u]]) {
    const places = outline.map((p) => dot(along, p));
    const ends = outline.map((p) => dot(across, p));
    for (let x = Math.ceil(Math.min(...places) / step) * step; x <= Math.max(...places); x += step) {
      // The line at this place, between the sides that it crosses.
      const base = plus(normal.map((c) => c * dot(normal, foot)), along, x);
      const crossings = [];
      outline.forEach((p, i) => {
        const q = (i + 1) % outline.length;
        if ((places[i] < x) !== (places[q] < x)) crossings.push(ends[i] + (ends[q] - ends[i]) * (x - places[i]) / (places[q] - places[i]));
      });
      if (crossings.length === 2) grid.push(crossings.map((y) => plus(base, across, y)));
    }
  }
  return { normal, outline, grid, step };
}
