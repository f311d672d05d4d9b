// Which of a registry's answers turn the check red. The registry is a server of the test's own; pnpm asks it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type AcceptedHole, knownHoles } from './known-holes.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function registry(status: number, answer: unknown): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const hole = (severity: string) => ({
  id: 1,
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  title: 'Request smuggling',
  severity,
  vulnerable_versions: '<99',
  cwe: [],
  cvss: { score: 7.5, vectorString: null },
});
const accepted: AcceptedHole = { advisory: 'GHSA-aaaa-bbbb-cccc', reason: 'not called', until: '2026-06-30' };

test('a high hole in a program is told with the way out, until it is accepted and while it is', async () => {
  const url = await registry(200, { fastify: [hole('high')] });
  const told = [
    expect.stringMatching(
      /^fastify 5\.\S+ has a high hole \(Request smuggling, .* or accept it with a reason/,
    ),
  ];
  expect(await knownHoles(url, [])).toEqual(told);
  expect(await knownHoles(url, [accepted], '2026-06-30')).toEqual([]);
  expect(await knownHoles(url, [accepted], '2026-07-01')).toEqual(told);
});

test('a moderate hole, and a hole in what only tests need, weigh nothing', async () => {
  expect(await knownHoles(await registry(200, { fastify: [hole('moderate')] }), [])).toEqual([]);
  expect(await knownHoles(await registry(200, { 'playwright-core': [hole('critical')] }), [])).toEqual([]);
});

test('a registry that answers no such question is not taken for a clean one', async () => {
  expect(await knownHoles(await registry(405, { error: 'no' }), [])).toBeUndefined();
  expect(await knownHoles('http://127.0.0.1:9/', [])).toBeUndefined();
});
