import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { limitUnfinishedBodies } from './unfinished-bodies.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Begins a body; `text` settles with it once `itsTurn` does, `code` names why it was refused. */
function begin(readBody = limitUnfinishedBodies(), itsTurn = Promise.resolve()) {
  const raw = new PassThrough();
  const text = readBody(raw as unknown as IncomingMessage, () => itsTurn);
  const code = text.then(
    () => 'read',
    (error) => error.code as string,
  );
  return { raw, text, code };
}

test('a body is read whole, whatever its pieces are', async () => {
  for (const pieces of [[], ['a=ü'], [...Buffer.from('a=grün auf Zeit 🐎'.repeat(500))]]) {
    const { raw, text } = begin();
    for (const piece of pieces) raw.write(typeof piece === 'number' ? Buffer.of(piece) : piece);
    raw.end();
    const whole = pieces.map((piece) => (typeof piece === 'number' ? Buffer.of(piece) : Buffer.from(piece)));
    expect(await text).toBe(Buffer.concat(whole).toString());
  }
});

test('one of 64 KiB is read, a longer one and one that breaks off are refused', async () => {
  const [longest, longer, broken] = [begin(), begin(), begin()];
  longest.raw.end('x'.repeat(65_536));
  longer.raw.write('x'.repeat(65_536));
  longer.raw.end('x');
  broken.raw.write('x');
  broken.raw.destroy();
  expect(await longest.text).toHaveLength(65_536);
  expect([await longer.code, await broken.code]).toEqual(['invalid_request', 'invalid_request']);
});

test('long bodies that do not end are bounded together, short ones pass, and what ends makes room', async () => {
  const readBody = limitUnfinishedBodies();
  const held = Array.from({ length: 700 }, () => {
    const body = begin(readBody);
    body.raw.write('x'.repeat(60_000));
    return body;
  });
  await turn();
  const refused = (await Promise.all(held.map(({ code }) => Promise.race([code, turn('held')])))).filter(
    (code) => code !== 'held',
  );
  expect(new Set(refused)).toEqual(new Set(['temporarily_unavailable']));
  expect(refused.length).toBeGreaterThan(100);
  expect(refused.length).toBeLessThan(200);

  const short = begin(readBody);
  short.raw.end('x'.repeat(4_000));
  expect(await short.code).toBe('read');
  for (const { raw } of held) raw.destroy();
  await Promise.all(held.map(({ code }) => code));
  const long = begin(readBody);
  long.raw.end('x'.repeat(60_000));
  expect(await long.code).toBe('read');
});

test('a long body that has ended counts until its turn', async () => {
  const readBody = limitUnfinishedBodies();
  const { promise: itsTurn, resolve: comes } = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 700 }, () => begin(readBody, itsTurn));
  for (const { raw } of waiting) raw.end('x'.repeat(60_000));
  await turn();
  const late = begin(readBody);
  late.raw.end('x'.repeat(60_000));
  expect(await late.code).toBe('temporarily_unavailable');
  comes();
  await Promise.all(waiting.map(({ code }) => code));
  const again = begin(readBody);
  again.raw.end('x'.repeat(60_000));
  expect(await again.code).toBe('read');
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
  for (const { text } of bodies) expect(await text).toHaveLength(60_000);
});
