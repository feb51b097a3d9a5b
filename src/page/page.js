"use strict";
// The data of the page, its time, the canvas above the scene, the time line, and the plots.

const data = JSON.parse(document.getElementById("data").textContent);
const get = (id) => document.getElementById(id);
const KINDS = { closed: ["#d1495b", "contacts close"], released: ["#2e86ab", "contacts open"],
  friction: ["#8f6bb3", "contacts stick or slip"], guard: ["#d1495b", "guards are crossed"] };
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUE = Object.fromEntries([...DIGITS].map((c, i) => [c, i]));

// Frames of whole numbers from their text (pack.rs): each number is the difference to the frame before.
function unpack(text) {
  let before = [];
  return text.split(" ").map((frame) => {
    const numbers = [];
    let [number, factor] = [0, 1];
    for (const c of frame) {
      const digit = VALUE[c];
      number += (digit & 31) * factor;
      factor *= 32;
      if (digit & 32) continue;
      const size = Math.floor(number / 2);
      numbers.push((number % 2 ? -size : size) + (before[numbers.length] || 0));
      [number, factor] = [0, 1];
    }
    before = numbers;
    return numbers;
  });
}
// So many steps of a power of ten, as the number next to it.
const scaled = (steps, exponent) => Number(steps + "e" + exponent);

const times = data.times;
const [start, end] = [times[0], times[times.length - 1]];
const states = unpack(data.states).map((frame) => frame.map((n, i) => scaled(n, data.exponents[i])));
const pens = times.map(() => ({ lines: [], arrows: [] }));
const { length: lengthStep, force: forceStep } = data.drawing;
unpack(data.drawing.lines).forEach((frame, k) => {
  for (let i = 0; i < frame.length;) {
    const line = [];
    const count = frame[i++];
    for (let j = 0; j < count; j++, i += 3) line.push(frame.slice(i, i + 3).map((n) => scaled(n, lengthStep)));
    pens[k].lines.push(line);
  }
});
unpack(data.drawing.arrows).forEach((frame, k) => {
  for (let i = 0; i < frame.length; i += 6) {
    pens[k].arrows.push({ at: frame.slice(i, i + 3).map((n) => scaled(n, lengthStep)),
      force: frame.slice(i + 3, i + 6).map((n) => scaled(n, forceStep)) });
  }
});
const bodies = data.bodies || [];
const moving = bodies.filter((body) => "tree" in body);
bodies.forEach((body) => { body.mesh = meshOf(body); });
moving.forEach((body, i) => { body.colour = COLOURS[i % COLOURS.length]; });
const coordinates = (body, k) => states[k].slice(7 * body.tree, 7 * body.tree + 7);

// The box that holds all motion and all lines, and planes within it.
const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
function hold(p, r) {
  for (let k = 0; k < 3; k++) [low[k], high[k]] = [Math.min(low[k], p[k] - r), Math.max(high[k], p[k] + r)];
}
times.forEach((_, k) => {
  moving.forEach((body) => hold(coordinates(body, k), radiusOf(body)));
  pens[k].lines.flat().forEach((p) => hold(p, 0));
  pens[k].arrows.forEach((arrow) => hold(arrow.at, 0));
});
bodies.filter((body) => body.pose && body.mesh).forEach((body) =>
  body.mesh.points.forEach((p) => hold(toWorld(poseOf(body.pose), p), 0)));
bodies.filter((body) => body.pose && body.sphere).forEach((body) => hold(body.pose, body.sphere));
const hasScene = low[0] <= high[0];
const inPlane = hasScene && bodies.length === 0 && low[1] === 0 && high[1] === 0;
const margin = hasScene ? 0.04 * Math.hypot(...high.map((x, k) => x - low[k])) : 0;
for (let k = 0; k < 3; k++) [low[k], high[k]] = [low[k] - margin, high[k] + margin];
const planes = bodies.filter((body) => body.plane);
planes.forEach((body) => Object.assign(body, planeOf(body, planes.filter((other) => other !== body), low, high)));
const view = new View(low, high, inPlane);
const solids = new Solids(get("solids"));

// The force of an arrow of 60 pixels: nine of ten are not longer.
const sizes = pens.flatMap((pen) => pen.arrows.map((arrow) => Math.hypot(...arrow.force))).sort((a, b) => a - b);
const usual = sizes[Math.floor(0.9 * sizes.length)] || 0;
const unit = usual > 0 ? nice(usual) : 1;
const LONGEST = 150;

// --- The scene and what is written above it.

function drawScene(k) {
  const [width, height] = [get("stage").clientWidth, get("stage").clientHeight];
  if (bodies.length) {
    // At rest twice as fine as the page, which smooths the edges.
    const fine = playing || turning ? 1 : 2;
    solids.begin(fine * width, fine * height);
    view.fit(fine * width, fine * height);
    for (const body of bodies) {
      const layer = solids.layers[body.pose ? 0 : 1];
      const pose = poseOf(body.pose || coordinates(body, k));
      const colour = body.colour || FIXED;
      if (body.plane) solids.plane(layer, view, body);
      else if (body.sphere) solids.ball(layer, view, pose.at, body.sphere, pose.axes, colour);
      else solids.mesh(layer, view, body, pose, colour);
    }
    solids.show();
  }
  view.fit(width, height);
  const pen = fresh(get("over"), width, height);
  pen.font = "12px system-ui, sans-serif";
  if (inPlane) drawGrid(pen, width, height);
  pens[k].lines.forEach((line, i) => drawLine(pen, line, COLOURS[(i + 4) % COLOURS.length]));
  if (get("forces").checked) pens[k].arrows.forEach((arrow) => {
    const size = Math.hypot(...arrow.force);
    drawArrow(pen, view.point(arrow.at), view.vector(arrow.force.map((x) => x / size)), size);
  });
  if (get("numbers").checked) moving.forEach((body) => word(pen, String(body.number), view.point(coordinates(body, k))));
  drawLegend(pen, width, height);
}

// A canvas of this size in pixels of the page, empty.
function fresh(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function drawLine(pen, line, colour) {
  const last = line[line.length - 1];
  pen.beginPath();
  line.forEach((p) => pen.lineTo(...view.point(p).slice(0, 2)));
  if (line.length > 3 && line[0].every((x, k) => x === last[k])) {
    pen.closePath();
    pen.fillStyle = `rgba(${colour},0.25)`;
    pen.fill();
  }
  [pen.strokeStyle, pen.lineWidth, pen.lineJoin] = [css(colour.map((c) => 0.75 * c)), 2, "round"];
  pen.stroke();
}

// A force of this size (N) along a direction as it is seen.
function drawArrow(pen, from, direction, size) {
  const isCut = size * 60 / unit > LONGEST;
  const share = Math.hypot(direction[0], direction[1]);
  const length = share * (isCut ? LONGEST : size * 60 / unit);
  if (!(length >= 1.5)) return;
  const [ux, uy] = [direction[0] / share, direction[1] / share];
  const [x, y] = [from[0] + length * ux, from[1] + length * uy];
  const head = Math.min(9, 0.5 * length);
  pen.strokeStyle = pen.fillStyle = isCut ? "#c2185b" : "#111";
  pen.lineWidth = 1.8;
  pen.beginPath();
  pen.moveTo(from[0], from[1]);
  pen.lineTo(x - 0.8 * head * ux, y - 0.8 * head * uy);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - head * ux - 0.4 * head * uy, y - head * uy + 0.4 * head * ux);
  pen.lineTo(x - head * ux + 0.4 * head * uy, y - head * uy - 0.4 * head * ux);
  pen.fill();
}

function word(pen, text, [x, y], align = "center") {
  [pen.textAlign, pen.textBaseline, pen.lineWidth, pen.strokeStyle, pen.fillStyle] = [align, "middle", 3, "#fff", "#222"];
  pen.strokeText(text, x, y);
  pen.fillText(text, x, y);
}

// The grid of a model in the plane, with its numbers.
function drawGrid(pen, width, height) {
  const [across, up] = [0.5 * width / view.scale, 0.5 * height / view.scale];
  const lines = (middle, half) => ticks(middle - half, middle + half, 2 * half * view.scale / 90);
  const line = (a, b) => {
    [pen.strokeStyle, pen.lineWidth] = ["#dde1e6", 1];
    stroke(pen, a, b);
  };
  for (const x of lines(view.centre[0], across)) {
    const at = view.point([x, 0, 0])[0];
    line([at, 0], [at, height]);
    if (at > 20 && at < width - 20) word(pen, short(x), [at, height - 10]);
  }
  for (const z of lines(view.centre[2], up)) {
    const at = view.point([0, 0, z])[1];
    line([0, at], [width, at]);
    if (at > 26 && at < height - 26) word(pen, short(z), [8, at], "left");
  }
  word(pen, "x [m]", [width - 24, height - 26]);
  word(pen, "z [m]", [24, 14]);
}
function stroke(pen, a, b) {
  pen.beginPath();
  pen.moveTo(...a);
  pen.lineTo(...b);
  pen.stroke();
}

// The axes, a length, and a force.
function drawLegend(pen, width, height) {
  let top = height - 22;
  if (!inPlane) {
    const origin = [48, height - 48];
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, i) => {
      const way = view.vector(axis);
      [pen.strokeStyle, pen.lineWidth] = [["#c0392b", "#27834a", "#2456a6"][i], 2];
      stroke(pen, origin, [origin[0] + 30 * way[0], origin[1] + 30 * way[1]]);
      word(pen, "xyz"[i], [origin[0] + 40 * way[0], origin[1] + 40 * way[1]]);
    });
    const bar = nice(130 / view.scale);
    [pen.strokeStyle, pen.lineWidth] = ["#222", 2];
    stroke(pen, [width - 20 - bar * view.scale, top], [width - 20, top]);
    word(pen, `${short(bar)} m`, [width - 20 - 0.5 * bar * view.scale, top - 12]);
    top -= 44;
  } else top -= 24;
  if (sizes.length && get("forces").checked) {
    drawArrow(pen, [width - 80, top], [1, 0], unit);
    word(pen, `${short(unit)} N`, [width - 90, top], "right");
    if (sizes[sizes.length - 1] * 60 / unit > LONGEST) {
      word(pen, `forces above ${short(unit * LONGEST / 60)} N are cut`, [width - 20, top - 18], "right");
    }
  }
}

// --- Plots of the state.

// Names that are equal up to a bar are one plot.
const plots = new Map();
data.names.forEach((name, entry) => {
  const label = name.split("|")[0];
  if (!plots.has(label)) plots.set(label, { label, entries: [] });
  plots.get(label).entries.push(entry);
});

function makePlot(plot) {
  const holder = document.createElement("div");
  holder.className = "plot";
  plot.canvas = holder.appendChild(document.createElement("canvas"));
  [plot.now, plot.value] = ["now", "value"].map((name) => {
    const part = holder.appendChild(document.createElement("div"));
    part.className = name;
    return part;
  });
  plot.canvas.addEventListener("pointerdown", (event) => {
    show(start + (end - start) * (event.offsetX - LEFT) / (plot.canvas.clientWidth - LEFT - 10));
  });
  plot.holder = holder;
  get("plots").append(holder);
}

const LEFT = 62;
function drawPlot(plot) {
  const [width, height] = [plot.canvas.clientWidth, plot.canvas.clientHeight];
  const pen = fresh(plot.canvas, width, height);
  const [top, bottom] = [22, height - 34];
  let [least, most] = [Infinity, -Infinity];
  for (const state of states) {
    for (const entry of plot.entries) [least, most] = [Math.min(least, state[entry]), Math.max(most, state[entry])];
  }
  const pad = 0.06 * (most - least) || 0.5 * Math.abs(most) || 1;
  [least, most] = [least - pad, most + pad];
  const x = (t) => LEFT + (width - LEFT - 10) * (end > start ? (t - start) / (end - start) : 0.5);
  const y = (value) => bottom - (bottom - top) * (value - least) / (most - least);
  pen.font = "12px system-ui, sans-serif";
  [pen.strokeStyle, pen.lineWidth] = ["#e3e6ea", 1];
  ticks(least, most, 5).forEach((value) => stroke(pen, [LEFT, y(value)], [width - 10, y(value)]));
  ticks(start, end, 8).forEach((t) => stroke(pen, [x(t), top], [x(t), bottom]));
  pen.globalAlpha = 0.35;
  for (const [t, kind] of data.marks) {
    pen.strokeStyle = KINDS[kind][0];
    stroke(pen, [x(t), top], [x(t), bottom]);
  }
  pen.globalAlpha = 1;
  plot.entries.forEach((entry, i) => {
    pen.beginPath();
    states.forEach((state, k) => pen.lineTo(x(times[k]), y(state[entry])));
    [pen.strokeStyle, pen.lineWidth] = [plot.entries.length > 1 ? css(COLOURS[i % COLOURS.length]) : "#1f5fa8", 1.5];
    pen.stroke();
  });
  [pen.strokeStyle, pen.lineWidth] = ["#555", 1];
  pen.strokeRect(LEFT, top, width - LEFT - 10, bottom - top);
  ticks(least, most, 5).forEach((value) => word(pen, short(value), [LEFT - 6, y(value)], "right"));
  ticks(start, end, 8).forEach((t) => word(pen, short(t), [x(t), bottom + 11]));
  word(pen, "time [s]", [0.5 * (LEFT + width), height - 8]);
  pen.font = "600 12px system-ui, sans-serif";
  const many = plot.entries.length > 1 && moving.length ? ", each body in its colour" : "";
  word(pen, plot.label + many, [LEFT, 11], "left");
}
function ticks(from, to, count) {
  if (!(to > from)) return [from];
  // The step of `nice` that is not smaller.
  const step = nice(2.4 * (to - from) / count);
  const list = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}

// --- The time line.

function drawTimeLine() {
  const canvas = get("line");
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const pen = fresh(canvas, width, height);
  pen.font = "12px system-ui, sans-serif";
  const x = (t) => 12 + (width - 24) * (end > start ? (t - start) / (end - start) : 0);
  pen.fillStyle = "#e3e6ea";
  pen.fillRect(12, 18, width - 24, 10);
  pen.fillStyle = "#9bb4d0";
  pen.fillRect(12, 18, x(times[shown]) - 12, 10);
  for (const [t, kind] of data.marks) {
    pen.fillStyle = KINDS[kind][0];
    pen.fillRect(x(t) - 1, 10, 2, 20);
  }
  pen.fillStyle = "#111";
  pen.beginPath();
  pen.arc(x(times[shown]), 23, 7, 0, 7);
  pen.fill();
  ticks(start, end, 14).forEach((t) => word(pen, `${short(t)} s`, [x(t), 43]));
}

// --- The time that is shown.

let [shown, playing, turning, clock, last] = [0, false, false, start, null];

// The last sample at or before a time, up to rounding.
function sampleAt(t) {
  const slack = 1e-9 * Math.max(end - start, Math.abs(end));
  let [a, b] = [0, times.length];
  while (b - a > 1) {
    const middle = a + b >> 1;
    if (times[middle] <= t + slack) a = middle;
    else b = middle;
  }
  return a;
}
function show(t) {
  clock = Math.min(end, Math.max(start, Number.isFinite(t) ? t : start));
  showSample(sampleAt(clock));
}
function showSample(k) {
  shown = Math.max(0, Math.min(times.length - 1, k));
  const t = times[shown];
  if (hasScene) drawScene(shown);
  drawTimeLine();
  get("clock").textContent = `t = ${t.toFixed(4)} s`;
  for (const plot of plots.values()) {
    if (!plot.holder || plot.holder.hidden) continue;
    const width = plot.canvas.clientWidth - LEFT - 10;
    plot.now.style.left = `${LEFT + width * (end > start ? (t - start) / (end - start) : 0.5)}px`;
    plot.value.textContent = plot.entries.length > 1 ? "" : short(states[shown][plot.entries[0]]);
  }
  const past = data.marks.filter((mark) => mark[0] <= t).length - 1;
  if (get("events").selectedIndex !== past) get("events").selectedIndex = past;
  const state = { t, state: states[shown] };
  if (moving.length) state.poses = Object.fromEntries(moving.map((body) => [body.number, coordinates(body, shown)]));
  get("shown").textContent = JSON.stringify(state);
}
function play(on) {
  [playing, last] = [on, null];
  if (on && shown === times.length - 1) show(start);
  get("play").textContent = on ? "Pause" : "Play";
  if (on) requestAnimationFrame(frame);
  else showSample(shown);
}
function frame(now) {
  if (!playing) return;
  if (last !== null) show(clock + Number(get("speed").value) * (now - last) / 1000);
  last = now;
  if (clock >= end) play(false);
  else requestAnimationFrame(frame);
}
function fromAddress() {
  const t = /[#&]t=([^&]*)/.exec(location.hash);
  if (t) [playing, clock] = [false, Number(t[1])];
  show(clock);
}

// --- What the user does.

function drag(element, act, done = () => {}) {
  let at = null;
  element.addEventListener("pointerdown", (event) => {
    at = [event.clientX, event.clientY];
    element.setPointerCapture(event.pointerId);
    act(event, 0, 0);
  });
  element.addEventListener("pointermove", (event) => {
    if (!at) return;
    act(event, event.clientX - at[0], event.clientY - at[1]);
    at = [event.clientX, event.clientY];
  });
  for (const end of ["pointerup", "pointercancel"]) {
    element.addEventListener(end, () => {
      at = null;
      done();
    });
  }
}
drag(get("stage"), (event, dx, dy) => {
  if (inPlane || event.shiftKey || event.buttons & 2) view.shift(dx, dy);
  else {
    view.turn -= 0.008 * dx;
    view.rise = Math.max(-1.57, Math.min(1.57, view.rise + 0.008 * dy));
    view.look();
  }
  turning = true;
  drawScene(shown);
}, () => {
  turning = false;
  drawScene(shown);
});
get("stage").addEventListener("wheel", (event) => {
  event.preventDefault();
  view.zoom = Math.max(0.05, Math.min(200, view.zoom * Math.exp(-0.0015 * event.deltaY)));
  drawScene(shown);
}, { passive: false });
get("stage").addEventListener("contextmenu", (event) => event.preventDefault());
get("stage").addEventListener("dblclick", () => { view.reset(); drawScene(shown); });
drag(get("line"), (event) => {
  play(false);
  show(start + (end - start) * (event.clientX - get("line").getBoundingClientRect().left - 12) / (get("line").clientWidth - 24));
});
get("play").addEventListener("click", () => play(!playing));
get("events").addEventListener("change", () => {
  const [t] = data.marks[get("events").selectedIndex];
  play(false);
  show(t);
});
["forces", "numbers"].forEach((id) => get(id).addEventListener("change", () => drawScene(shown)));
document.addEventListener("keydown", (event) => {
  if (["SELECT", "BUTTON", "SUMMARY"].includes(event.target.tagName)) return;
  if (event.key === " ") play(!playing);
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    play(false);
    showSample(shown + (event.key === "ArrowRight" ? 1 : -1));
    clock = times[shown];
  } else return;
  event.preventDefault();
});
window.addEventListener("hashchange", fromAddress);
window.addEventListener("resize", drawAll);

function drawAll() {
  for (const plot of plots.values()) if (plot.holder && !plot.holder.hidden) drawPlot(plot);
  showSample(shown);
}
function begin() {
  document.title = get("title").textContent = data.title;
  data.notes.forEach((note) => get("notes").appendChild(document.createElement("li")).textContent = note);
  get("view").hidden = !hasScene;
  get("show-forces").hidden = !sizes.length;
  get("show-numbers").hidden = !moving.length;
  get("hint").textContent = (inPlane ? "Drag to shift" : "Drag to turn, with shift to move")
    + ", wheel to zoom, double click to begin again; the space bar plays, arrow keys go on by one sample.";
  new Set(data.marks.map((mark) => mark[1])).forEach((kind) => {
    const part = get("kinds").appendChild(document.createElement("span"));
    part.appendChild(document.createElement("i")).style.background = KINDS[kind][0];
    part.append(KINDS[kind][1]);
  });
  get("events").hidden = !data.marks.length;
  data.marks.forEach((mark) => get("events").append(new Option(mark[2])));
  // Of many plots the first six, of a scene height and its rate.
  [...plots.values()].forEach((plot, i) => {
    const isFirst = bodies.length ? /^v?z /.test(plot.label) : i < 6;
    const label = get("choice").appendChild(document.createElement("label"));
    const box = label.appendChild(document.createElement("input"));
    [box.type, box.checked] = ["checkbox", isFirst];
    label.append(` ${plot.label}`);
    box.addEventListener("change", () => {
      if (!plot.holder) makePlot(plot);
      plot.holder.hidden = !box.checked;
      drawAll();
    });
    if (isFirst) makePlot(plot);
  });
  drawAll();
  fromAddress();
}
begin();
