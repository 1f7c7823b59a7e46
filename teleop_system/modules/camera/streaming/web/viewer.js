// SPDX-License-Identifier: Apache-2.0
// Connects, authenticates, shows the newest frame, and synchronises clocks to measure its age.
import { TYPE, join, pack, proof, unpack, unpackColor, unpackDepth, unpackFrame } from "./decoder.js";

const NEAR = 300; // [mm]
const FAR = 3000;
const UNMEASURED = 0xff201a16; // Colour of pixels without depth, ABGR.
const LOOK_PERIOD = 33; // [ms]
const MAX_ANGLE = 1.57; // Largest head angle that a drag can request [rad].

const at = (id) => document.getElementById(id);
const canvas = { color: at("color").getContext("2d"), depth: at("depth").getContext("2d") };
const now = () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
const random = () => crypto.getRandomValues(new Uint8Array(32));

// A rainbow without its ends, from red (near) to blue (far), as a table of ABGR.
const COLORS = new Uint32Array(256).map((_, index) => {
  const x = 1 - index / 255;
  const ramp = (centre) => Math.round(255 * Math.min(1, Math.max(0, 1.5 - Math.abs(4 * x - centre))));
  return (0xff000000 | (ramp(1) << 16) | (ramp(2) << 8) | ramp(3)) >>> 0;
});

const stream = {
  token: new URLSearchParams(location.hash.slice(1)).get("token") ?? sessionStorage.getItem("token") ?? "",
  socket: null,
  offset: null, // Server's clock minus ours [ns].
  pings: [],
  newest: null,
  isDrawing: false,
  depth: null,
  width: 0,
  head: { pan: 0, tilt: 0 },
  arrivals: [],
  bytes: 0,
  lost: 0,
  sequence: null,
  latencies: [],
  isRefused: false,
};
window.stream = stream; // For inspection in the browser's console.

function show(state, text) {
  at("state").className = state;
  at("state").textContent = text;
}

function send(type, payload = new Uint8Array(), options = {}) {
  if (stream.socket?.readyState === WebSocket.OPEN) {
    stream.socket.send(pack(type, payload, { sent: now(), ...options }));
  }
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/stream`);
  const nonces = { ours: random(), theirs: null };
  socket.binaryType = "arraybuffer";
  Object.assign(stream, { socket, offset: null, pings: [], sequence: null });
  socket.onopen = () => {
    send(TYPE.HELLO, join(nonces.ours, new TextEncoder().encode("browser")));
  };
  socket.onmessage = (event) => {
    try {
      handle(unpack(event.data), nonces, event.data.byteLength);
    } catch (error) {
      show("failed", error.message);
      socket.close();
    }
  };
  socket.onclose = () => {
    if (stream.socket !== socket || stream.isRefused) return;
    show("waiting", "connecting again …");
    setTimeout(connect, 1000);
  };
}

function handle(message, nonces, size) {
  const { type, payload } = message;
  if (type === TYPE.CHALLENGE) {
    nonces.theirs = payload.slice();
    send(TYPE.PROOF, proof("client", stream.token, nonces.ours, nonces.theirs));
  } else if (type === TYPE.WELCOME) {
    const expected = proof("server", stream.token, nonces.ours, nonces.theirs);
    if (!expected.every((byte, index) => byte === payload[index])) {
      throw new Error("the server does not know the token");
    }
    sessionStorage.setItem("token", stream.token);
    at("login").hidden = true;
    show("waiting", "waiting for a frame …");
    for (let count = 0; count < 5; count += 1) setTimeout(() => send(TYPE.PING), 40 * count);
  } else if (type === TYPE.REFUSED) {
    refuse(new TextDecoder().decode(payload));
  } else if (type === TYPE.PING) {
    const echo = new Uint8Array(16);
    new DataView(echo.buffer).setBigUint64(0, message.sent);
    new DataView(echo.buffer).setBigUint64(8, now());
    send(TYPE.PONG, echo, { sequence: message.sequence });
  } else if (type === TYPE.PONG) {
    compareClocks(message);
  } else if (type === TYPE.FRAME) {
    stream.bytes += size;
    if (stream.sequence !== null) stream.lost += Math.max(0, message.sequence - stream.sequence - 1);
    stream.sequence = message.sequence;
    stream.newest = message;
    if (!stream.isDrawing) draw();
  }
}

function refuse(reason) {
  stream.isRefused = true;
  sessionStorage.removeItem("token");
  show(stream.token ? "failed" : "waiting", stream.token ? "refused" : "a token is needed");
  at("login").hidden = false;
  at("refusal").textContent = stream.token ? reason : "";
  at("token").focus();
}

function compareClocks(message) {
  const view = new DataView(message.payload.buffer, message.payload.byteOffset);
  const sent = view.getBigUint64(0);
  const received = view.getBigUint64(8);
  const here = now();
  const trip = Number(here - sent - (message.sent - received));
  if (trip < 0) return;
  stream.pings.push({ trip, offset: (received - sent + (message.sent - here)) / 2n });
  stream.pings.splice(0, stream.pings.length - 16);
  const best = stream.pings.reduce((a, b) => (b.trip < a.trip ? b : a));
  stream.offset = best.offset;
  at("trip").textContent = `${(best.trip / 1e6).toFixed(1)} ms`;
}

async function draw() {
  stream.isDrawing = true;
  while (stream.newest) {
    const message = stream.newest;
    stream.newest = null;
    try {
      const frame = unpackFrame(message.payload);
      await drawColor(frame);
      drawDepth(frame);
      updateStatus(message, frame);
    } catch (error) {
      show("failed", error.message);
    }
    send(TYPE.ACK, undefined, { sequence: message.sequence });
  }
  stream.isDrawing = false;
}

function resize(context, frame) {
  if (context.canvas.width !== frame.width || context.canvas.height !== frame.height) {
    context.canvas.width = frame.width;
    context.canvas.height = frame.height;
  }
}

async function drawColor(frame) {
  resize(canvas.color, frame);
  if (frame.colorCoding === 1) {
    const picture = await createImageBitmap(new Blob([frame.color], { type: "image/jpeg" }));
    canvas.color.drawImage(picture, 0, 0);
    picture.close();
  } else {
    canvas.color.putImageData(new ImageData(unpackColor(frame), frame.width), 0, 0);
  }
}

function drawDepth(frame) {
  resize(canvas.depth, frame);
  const image = new ImageData(frame.width, frame.height);
  const pixels = new Uint32Array(image.data.buffer).fill(UNMEASURED);
  stream.depth = null;
  if (frame.depthCoding === 1) {
    const depth = unpackDepth(frame);
    const scale = 255 / (FAR - NEAR);
    for (let index = 0; index < depth.length; index += 1) {
      const distance = depth[index];
      if (distance > 0) {
        const step = (distance - NEAR) * scale;
        pixels[index] = COLORS[step < 0 ? 0 : step > 255 ? 255 : step | 0];
      }
    }
    stream.depth = depth;
    stream.width = frame.width;
  }
  canvas.depth.putImageData(image, 0, 0);
}

function updateStatus(message, frame) {
  const here = performance.now();
  stream.arrivals.push(here);
  while (stream.arrivals.length && here - stream.arrivals[0] > 2000) stream.arrivals.shift();
  if (stream.offset !== null) {
    stream.latencies.push(Number(now() - (message.measured - stream.offset)) / 1e6);
    stream.latencies.splice(0, stream.latencies.length - 30);
  }
  if (!drag.begin) stream.head = { pan: frame.pan, tilt: frame.tilt };
  show("live", frame.depthCoding === 1 ? "live" : "live, without depth");
  at("head").textContent = `${degrees(frame.pan)} / ${degrees(frame.tilt)}`;
}

const degrees = (angle) => `${((angle * 180) / Math.PI).toFixed(0)}°`;

// Dragging the image turns the head in proportion to the distance.
const drag = { begin: null, request: null };
at("color").addEventListener("pointerdown", (event) => {
  at("color").setPointerCapture(event.pointerId);
  drag.begin = { x: event.clientX, y: event.clientY, ...stream.head };
});
at("color").addEventListener("pointermove", (event) => {
  if (!drag.begin) return;
  const scale = 1.2 / at("color").clientWidth; // [rad/px]
  const clamp = (angle) => Math.max(-MAX_ANGLE, Math.min(MAX_ANGLE, angle));
  drag.request = {
    pan: clamp(drag.begin.pan + (event.clientX - drag.begin.x) * scale),
    tilt: clamp(drag.begin.tilt - (event.clientY - drag.begin.y) * scale),
  };
});
for (const name of ["pointerup", "pointercancel"]) {
  at("color").addEventListener(name, () => { drag.begin = drag.request = null; });
}
setInterval(() => {
  if (!drag.request) return;
  const payload = new Uint8Array(16);
  new DataView(payload.buffer).setFloat64(0, drag.request.pan);
  new DataView(payload.buffer).setFloat64(8, drag.request.tilt);
  send(TYPE.LOOK, payload, { measured: now() });
}, LOOK_PERIOD);

at("depth").addEventListener("pointermove", (event) => {
  if (!stream.depth) return;
  const box = at("depth").getBoundingClientRect();
  const column = Math.floor(((event.clientX - box.left) / box.width) * stream.width);
  const row = Math.floor(((event.clientY - box.top) / box.height) * (stream.depth.length / stream.width));
  const distance = stream.depth[row * stream.width + column];
  at("probe").textContent = distance ? `${(distance / 1000).toFixed(3)} m` : "not measured";
});

at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  stream.token = at("token").value.trim();
  stream.isRefused = false;
  show("waiting", "connecting …");
  connect();
});

setInterval(() => send(TYPE.PING), 1000);
setInterval(() => {
  const { arrivals, latencies } = stream;
  const span = arrivals.length > 1 ? (performance.now() - arrivals[0]) / 1000 : Infinity;
  at("fps").textContent = `${((arrivals.length - 1) / span || 0).toFixed(0)} /s`;
  const sorted = [...latencies].sort((a, b) => a - b);
  if (sorted.length) at("latency").textContent = `${sorted[sorted.length >> 1].toFixed(0)} ms`;
  at("lost").textContent = stream.lost;
  at("rate").textContent = `${(stream.bytes / 1e6).toFixed(2)} MB/s`;
  stream.bytes = 0;
  if (arrivals.length && performance.now() - arrivals.at(-1) > 1500) show("waiting", "no frames come in");
}, 1000);

const scale = at("scale").getContext("2d");
const bar = new ImageData(256, 1);
new Uint32Array(bar.data.buffer).set(COLORS);
scale.putImageData(bar, 0, 0);
connect();
