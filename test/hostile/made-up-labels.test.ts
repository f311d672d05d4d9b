// Strangers who make up names: whatever they send, the metrics get no series from it.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { metricsOf } from '../secrets/told.ts';
import { discover } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';

const stack = runningStack();
const made = 1_000;

/** Names and labels of all series. */
async function series(): Promise<readonly string[]> {
  return [...(await metricsOf(stack))].flatMap(([name, text]) =>
    text.split('\n').flatMap((line) => (/^\w.* /.test(line) ? [`${name} ${line.replace(/ \S+$/, '')}`] : [])),
  );
}

/** Sends `total` requests, eight at a time. */
async function flood(total: number, request: (nth: number) => Promise<unknown>): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < total) await request(begun++);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** One connection that asks for `path`, and then with `method`, which no parser knows. */
function askTwice(path: string, method: string): Promise<string> {
  const { hostname, port } = new URL(stack.issuer);
  const socket = connect(Number(port), hostname);
  const head = `HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`;
  let answers = '';
  return new Promise((resolve) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (part) => {
      answers += part;
    });
    socket.on('close', () => resolve(answers));
    // The second when the first is answered, so that both are.
    socket.write(`GET ${path} ${head}`);
    socket.once('data', () => socket.write(`${method} /token ${head}`));
  });
}

test('a thousand made-up client ids, paths and methods add no series', async () => {
  const { token_endpoint: endpoint, authorization_endpoint: authorize } = await discover(stack.issuer);
  const makeUp = async (from: number, total: number): Promise<void> => {
    await flood(total, (nth) => {
      const authorization = `Basic ${btoa(`made-up-${from + nth}:secret`)}`;
      const form = { grant_type: 'refresh_token', refresh_token: `made.up-${nth}` };
      return send(endpoint, { headers: { authorization }, form });
    });
    await flood(total, (nth) => send(`${authorize}?client_id=made-up-${from + nth}`));
    await flood(total, (nth) => askTwice(`/made-up-${from + nth}`, `MADEUP${from + nth}`));
  };
  await makeUp(0, 100);
  expect(await askTwice('/made-up', 'MADEUP')).toMatch(/^HTTP\/1.1 404 .*HTTP\/1.1 405 /s);
  const before = new Set(await series());
  expect(before.size).toBeGreaterThan(100);
  await makeUp(100, made);
  const added = (await series()).filter((line) => !before.has(line));
  expect(added.filter((line) => /made.?up/i.test(line))).toEqual([]);
  // A busy machine adds errors of its own, of few kinds; each kind of name that became a label would add a thousand.
  expect(added.length, added.slice(0, 20).join('\n')).toBeLessThan(500);
}, 600_000);
