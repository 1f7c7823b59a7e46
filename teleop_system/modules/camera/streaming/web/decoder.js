// SPDX-License-Identifier: Apache-2.0
// The protocol for browsers: messages, LZ4, depth, and authentication by the token.
// `crypto.subtle` exists on encrypted pages only, so SHA-256 is implemented here.

export const TYPE = {
  HELLO: 1, CHALLENGE: 2, PROOF: 3, WELCOME: 4, REFUSED: 5, FRAME: 6, LOOK: 8, PING: 9, PONG: 10, BYE: 11, ACK: 12,
};
const MAGIC = 0x52474244; // "RGBD"
const VERSION = 1;
const HEADER = 36;
const FRAME_HEADER = 176;

const CRC_TABLE = new Uint32Array(256).map((_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc32(bytes, begin = 0) {
  let crc = ~begin;
  for (let index = 0; index < bytes.length; index += 1) {
    crc = CRC_TABLE[(crc ^ bytes[index]) & 255] ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** Encode a message; times are on this page's clock in [ns], as BigInt. */
export function pack(type, payload, { sequence = 0, measured = 0n, sent = 0n } = {}) {
  const bytes = new Uint8Array(HEADER + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint8(4, VERSION);
  view.setUint8(5, type);
  view.setUint32(8, sequence);
  view.setUint32(12, payload.length);
  view.setBigUint64(16, measured);
  view.setBigUint64(24, sent);
  view.setUint32(32, crc32(bytes.subarray(0, 32), crc32(payload)));
  bytes.set(payload, HEADER);
  return bytes;
}

/** Decode a message; throw if it is invalid. */
export function unpack(buffer) {
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  if (bytes.length < HEADER || view.getUint32(0) !== MAGIC || view.getUint8(4) !== VERSION) {
    throw new Error("the server speaks another protocol");
  }
  const payload = bytes.subarray(HEADER);
  if (view.getUint32(12) !== payload.length) throw new Error("a message is cut short");
  if (view.getUint32(32) !== crc32(bytes.subarray(0, 32), crc32(payload))) {
    throw new Error("a checksum is wrong");
  }
  return {
    type: view.getUint8(5),
    sequence: view.getUint32(8),
    measured: view.getBigUint64(16),
    sent: view.getBigUint64(24),
    payload,
  };
}

/** Decode the payload of a FRAME. */
export function unpackFrame(payload) {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  const colorSize = view.getUint32(FRAME_HEADER - 8);
  const depthSize = view.getUint32(FRAME_HEADER - 4);
  if (FRAME_HEADER + colorSize + depthSize !== payload.length) throw new Error("a frame is cut short");
  const color = payload.subarray(FRAME_HEADER, FRAME_HEADER + colorSize);
  return {
    width: view.getUint16(0),
    height: view.getUint16(2),
    colorCoding: view.getUint8(4),
    depthCoding: view.getUint8(5),
    pan: view.getFloat64(FRAME_HEADER - 24),
    tilt: view.getFloat64(FRAME_HEADER - 16),
    color,
    depth: payload.subarray(FRAME_HEADER + colorSize),
  };
}

/** Decompress an LZ4 block to exactly `size` bytes. */
export function unpackLz4(source, size) {
  const target = new Uint8Array(size);
  let from = 0;
  let to = 0;
  const extended = (length) => {
    if (length < 15) return length;
    let byte;
    do { byte = source[from++]; length += byte; } while (byte === 255);
    return length;
  };
  while (from < source.length) {
    const token = source[from++];
    const literals = extended(token >> 4);
    if (from + literals > source.length || to + literals > size) throw new Error("LZ4 data are broken");
    target.set(source.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from >= source.length) break;
    const offset = source[from] | (source[from + 1] << 8);
    from += 2;
    const length = extended(token & 15) + 4;
    if (offset === 0 || offset > to || to + length > size) throw new Error("LZ4 data are broken");
    if (offset >= length) {
      target.copyWithin(to, to - offset, to - offset + length);
      to += length;
    } else {
      for (const end = to + length; to < end; to += 1) target[to] = target[to - offset];
    }
  }
  if (to !== size) throw new Error("LZ4 data are cut short");
  return target;
}

/** Decode the depth in [mm] of a frame, row by row. */
export function unpackDepth(frame) {
  const pixels = frame.width * frame.height;
  const planes = unpackLz4(frame.depth, 2 * pixels);
  const depth = new Uint16Array(pixels);
  for (let index = 0; index < pixels; index += 1) {
    const above = index < frame.width ? 0 : depth[index - frame.width];
    depth[index] = above + planes[index] + (planes[pixels + index] << 8) - 128;
  }
  return depth;
}

/** Decode lossless colours of a frame as RGBA. */
export function unpackColor(frame) {
  const row = 3 * frame.width;
  const bytes = unpackLz4(frame.color, row * frame.height);
  for (let index = row; index < bytes.length; index += 1) bytes[index] += bytes[index - row];
  const rgba = new Uint8ClampedArray(4 * frame.width * frame.height);
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    rgba[to] = bytes[from];
    rgba[to + 1] = bytes[from + 1];
    rgba[to + 2] = bytes[from + 2];
    rgba[to + 3] = 255;
  }
  return rgba;
}

const isPrime = (number) => {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1) if (number % divisor === 0) return false;
  return true;
};
const PRIMES = Array.from({ length: 312 }, (_, index) => index).filter((number) => number > 1 && isPrime(number));
const fraction = (value) => Math.floor((value - Math.floor(value)) * 2 ** 32);
const ROUNDS = Uint32Array.from(PRIMES.slice(0, 64), (prime) => fraction(Math.cbrt(prime)));
const START = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const rotateRight = (value, bits) => (value >>> bits) | (value << (32 - bits));

export function sha256(message) {
  const length = Math.ceil((message.length + 9) / 64) * 64;
  const bytes = new Uint8Array(length);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(length - 4, message.length * 8);
  const hash = START.slice();
  const words = new Uint32Array(64);
  for (let block = 0; block < length; block += 64) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const a = words[i - 15];
      const b = words[i - 2];
      const low = rotateRight(a, 7) ^ rotateRight(a, 18) ^ (a >>> 3);
      const high = rotateRight(b, 17) ^ rotateRight(b, 19) ^ (b >>> 10);
      words[i] = words[i - 16] + low + words[i - 7] + high;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; i += 1) {
      const first = (h + (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
      const second = ((rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => { hash[i] += value; });
  }
  const digest = new Uint8Array(32);
  hash.forEach((value, i) => new DataView(digest.buffer).setUint32(4 * i, value));
  return digest;
}

export function join(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { whole.set(part, at); at += part.length; }
  return whole;
}

function hmac(key, message) {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const inner = sha256(join(block.map((byte) => byte ^ 0x36), message));
  return sha256(join(block.map((byte) => byte ^ 0x5c), inner));
}

/** Return the proof of "client" or "server" that it knows the token. */
export function proof(side, token, clientNonce, serverNonce) {
  const text = new TextEncoder();
  return hmac(text.encode(token), join(text.encode(`teleop-rgbd-${side}`), clientNonce, serverNonce));
}
