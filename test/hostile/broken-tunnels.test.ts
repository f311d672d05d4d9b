// CONNECT asks for a tunnel, which nobody gets: neither a reset nor a client that holds on harms the server.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';

const stack = runningStack();
const { issuer } = stack;
const { hostname, port, host } = new URL(issuer);

afterEach(async () => {
  expect((await send(`${issuer}/.well-known/openid-configuration`)).status).toBe(200);
});

/** A connection on which a tunnel is asked for; this side never ends it by itself. */
function askForTunnel(): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => {
      socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, () => resolve(socket));
    });
    socket.on('error', () => socket.destroy());
  });
}

/** True while the process that answered before is still the one that runs. */
function lives(pid: number | undefined): boolean {
  try {
    return pid === undefined || process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a CONNECT that is reset at once, or 200 ms later, does not end the server', async () => {
  for (const pause of [0, 10, 200, 200]) {
    const sockets = await Promise.all(Array.from({ length: 10 }, askForTunnel));
    await sleep(pause);
    for (const socket of sockets) socket.resetAndDestroy();
    await sleep(100);
    expect(lives(stack.processes?.gateway)).toBe(true);
    expect((await send(`${issuer}/.well-known/jwks.json`)).status).toBe(200);
  }
});

test('a CONNECT whose client holds on is closed by the server within 5 s', async () => {
  const socket = await askForTunnel();
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  // This side stays open: only an end from there, or a write that fails, tells that the server is done.
  const gone = new Promise<string>((resolve) => {
    socket.once('close', () => resolve('gone'));
    const probe = setInterval(() => {
      if (socket.destroyed) clearInterval(probe);
      else if (socket.readableEnded) socket.write('\r\n');
    }, 100);
  });
  expect(await Promise.race([gone, sleep(5_000, 'held')])).toBe('gone');
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
});
