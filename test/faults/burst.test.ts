// A burst of pipelined requests from one network, and what those of another network notice of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownStopwatch } from '../support/own-time.ts';
import { type System, startSystem } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.stop());

/** Sends `pipelined` on each of 1,000 connections from 127.0.1.1, on 500 of them at once and on 500 as they open, until it is ended. */
const attack = `
  const [port, pipelined] = process.argv.slice(1);
  const { connect } = require('node:net');
  const { once } = require('node:events');
  const open = async () => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.1.1' });
    socket.on('error', () => {}).resume();
    await once(socket, 'connect');
    return socket;
  };
  (async () => {
    const sockets = [];
    while (sockets.length < 500) sockets.push(await open());
    console.log('sent');
    for (const socket of sockets) socket.write(pipelined);
    for (let left = 500; left > 0; left -= 1) (await open()).write(pipelined);
  })()`;

const discovery = '/.well-known/openid-configuration';
const requestTo = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** From 127.0.2.1. Its status, or 'none' after `timeout` milliseconds. */
async function ask(url: string, timeout: number): Promise<number | 'none'> {
  const asked = request(url, {
    agent: false,
    localAddress: '127.0.2.1',
    signal: AbortSignal.timeout(timeout),
  });
  try {
    const [answer] = await once(asked.end(), 'response');
    await once(answer.resume(), 'end');
    return answer.statusCode;
  } catch {
    return 'none';
  }
}

async function quick(): Promise<boolean> {
  const from = performance.now();
  for (let left = 20; left > 0; left -= 1) await ask(`${system.stack.issuer}${discovery}`, 20_000);
  return performance.now() - from < 400;
}

/** For five seconds. `slowest`: milliseconds, of the time that this process had. */
async function watch() {
  const had = ownStopwatch();
  let slowest = 0;
  const readiness: (number | 'none')[] = [];
  const until = performance.now() + 5_000;
  const each = async (ms: number, turn: () => Promise<void>) => {
    while (performance.now() < until) {
      const next = performance.now() + ms;
      await turn();
      await sleep(Math.max(0, next - performance.now()));
    }
  };
  await Promise.all([
    each(50, async () => {
      const from = had();
      expect(await ask(`${system.stack.issuer}${discovery}`, 20_000)).toBe(200);
      slowest = Math.max(slowest, had() - from);
    }),
    each(1_000, async () => {
      readiness.push(await ask(`${system.stack.addresses?.['gateway health']}/readyz`, 1_000));
    }),
  ]);
  return { slowest, readiness };
}

test.each([
  ['an unknown route', requestTo('/x')],
  ['another method', requestTo('/token')],
  ['the key set', requestTo('/.well-known/jwks.json')],
  ['the authorization endpoint', requestTo('/authorize')],
  ['the events', requestTo('/api/events')],
  ['the token endpoint', requestTo('/token', 'POST')],
  ['two hosts', requestTo('/').replace('Host', 'Host: y\r\nHost')],
])(
  '32 requests on each of 1,000 connections for %s: another network waits a second longer at most [R14.11]',
  async (_what, one) => {
    // What an attack before has left behind is over.
    await expect.poll(quick, { timeout: 20_000 }).toBe(true);
    const idle = await watch();
    const { port } = new URL(system.stack.issuer);
    const attacker = spawn(process.execPath, ['--eval', attack, port, one.repeat(32)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(attacker.stdout, 'data');
      const { slowest, readiness } = await watch();
      console.log(`figure: ${Math.round(slowest)} ms at most, ${Math.round(idle.slowest)} ms when idle`);
      expect(slowest).toBeLessThan(idle.slowest + 1_000);
      expect(readiness.join()).not.toContain('none,none');
    } finally {
      attacker.kill('SIGKILL');
    }
  },
  60_000,
);
