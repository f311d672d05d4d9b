import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createBodyReader } from './request-bodies.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Begins a body; `code` names why it was refused. */
function begin(readBody = createBodyReader(), network = 'a') {
  const raw = new PassThrough();
  const body = readBody(raw as unknown as IncomingMessage, network);
  const code = body.then(
    () => 'read',
    (error) => error.code as string,
  );
  return { raw, body, text: () => body.then(({ text }) => text), code };
}

test('a body is read whole, whatever its pieces are', async () => {
  for (const pieces of [[], ['a=ü'], [...Buffer.from('a=grün auf Zeit 🐎'.repeat(500))]]) {
    const { raw, text } = begin();
    for (const piece of pieces) raw.write(typeof piece === 'number' ? Buffer.of(piece) : piece);
    raw.end();
    const whole = pieces.map((piece) => (typeof piece === 'number' ? Buffer.of(piece) : Buffer.from(piece)));
    expect(await text()).toBe(Buffer.concat(whole).toString());
  }
});

test('one of 64 KiB is read, a longer one and one that breaks off are refused', async () => {
  const [longest, longer, broken] = [begin(), begin(), begin()];
  longest.raw.end('x'.repeat(65_536));
  longer.raw.write('x'.repeat(65_536));
  longer.raw.end('x');
  broken.raw.write('x');
  broken.raw.destroy();
  expect(await longest.text()).toHaveLength(65_536);
  expect([await longer.code, await broken.code]).toEqual(['invalid_request', 'invalid_request']);
});

/** Begins long bodies; how many of them were refused. */
async function hold(readBody: ReturnType<typeof createBodyReader>, network: string) {
  const held = Array.from({ length: 700 }, () => begin(readBody, network));
  for (const { raw } of held) raw.write('x'.repeat(60_000));
  await turn();
  const codes = await Promise.all(held.map(({ code }) => Promise.race([code, turn('held')])));
  return { held, refused: codes.filter((code) => code === 'temporarily_unavailable').length };
}

async function codeOf(readBody: ReturnType<typeof createBodyReader>, network: string, bytes: number) {
  const { raw, code } = begin(readBody, network);
  raw.end('x'.repeat(bytes));
  return code;
}

test('long unfinished bodies are bounded in total and per network until they are finished', async () => {
  const readBody = createBodyReader();
  const one = await hold(readBody, 'a');
  expect(one.refused).toBeGreaterThan(200);
  expect(await codeOf(readBody, 'a', 60_000)).toBe('temporarily_unavailable');
  expect(await codeOf(readBody, 'b', 60_000)).toBe('read');
  const others = await Promise.all(['b', 'c', 'd', 'e', 'f'].map((network) => hold(readBody, network)));
  expect(await codeOf(readBody, 'b', 60_000)).toBe('temporarily_unavailable');
  expect(await codeOf(readBody, 'b', 4_000)).toBe('read');
  for (const { raw } of [one, ...others].flatMap(({ held }) => held)) raw.destroy();
  await turn();
  expect(await codeOf(readBody, 'a', 60_000)).toBe('read');
});

test('a long body counts until its request has ended', async () => {
  const readBody = createBodyReader();
  const read = Array.from({ length: 700 }, () => begin(readBody));
  for (const { raw } of read) raw.end('x'.repeat(60_000));
  await Promise.allSettled(read.map(({ body }) => body));
  expect(await codeOf(readBody, 'a', 60_000)).toBe('temporarily_unavailable');
  for (const { body } of read)
    await body.then(
      ({ release }) => release(),
      () => {},
    );
  expect(await codeOf(readBody, 'a', 60_000)).toBe('read');
});

test('a body in chunks of one byte costs what its bytes cost', async () => {
  const used = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  const bodies = Array.from({ length: 10 }, () => begin());
  for (const { raw } of bodies)
    for (let sent = 0; sent < 60_000; sent += 1) {
      raw.write(Buffer.alloc(1, 'x'));
      if (sent % 1_000 === 0) await turn();
    }
  await turn();
  // Kept chunk by chunk they would be 140 MB.
  expect(used() - before).toBeLessThan(20_000_000);
  for (const { raw } of bodies) raw.end();
  for (const { text } of bodies) expect(await text()).toHaveLength(60_000);
});
