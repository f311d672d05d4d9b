// Which licences pass, and which of a registry's answers turn the check red: the registry is a server of the
// test, and pnpm asks it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  type AcceptedVulnerability,
  auditProblems,
  findVulnerabilities,
  unaccepted,
} from './supply-chain.ts';

async function registry(status: number, answer: unknown): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const vulnerability = (severity: string) => ({
  id: 1,
  url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
  title: 'Request smuggling',
  severity,
  vulnerable_versions: '<99',
  cwe: [],
  cvss: { score: 7.5, vectorString: null },
});
const accepted: AcceptedVulnerability = {
  advisory: 'GHSA-aaaa-bbbb-cccc',
  reason: 'not called',
  until: '2026-06-30',
};

test('a high vulnerability in a program is reported with its remedy, unless an acceptance is valid', async () => {
  const url = await registry(200, { fastify: [vulnerability('high')] });
  const told = [
    expect.stringMatching(
      /^fastify 5\.\S+ has a high vulnerability \(Request smuggling, .* or accept it with a reason/,
    ),
  ];
  expect(await findVulnerabilities(url, [])).toEqual(told);
  expect(await findVulnerabilities(url, [accepted], '2026-06-30')).toEqual([]);
  expect(await findVulnerabilities(url, [accepted], '2026-07-01')).toEqual(told);
});

test('a moderate vulnerability, and one in what only tests need, do not count', async () => {
  const answer = { fastify: [vulnerability('moderate')], 'playwright-core': [vulnerability('critical')] };
  expect(await findVulnerabilities(await registry(200, answer), [])).toEqual([]);
});

test('a registry that answers no such question is not taken for a clean one', async () => {
  expect(await findVulnerabilities(await registry(405, { error: 'no' }), [])).toBeUndefined();
  expect(await findVulnerabilities('http://127.0.0.1:9/', [])).toBeUndefined();
  expect(auditProblems(undefined)).toEqual([expect.stringContaining('answered no audit')]);
  expect(auditProblems([])).toEqual([]);
});

const under = (licence: string, name = 'thing') => unaccepted({ [licence]: [{ name, versions: ['1.0.0'] }] });

test('every part of a licence must be accepted', () => {
  expect(under('MIT')).toEqual([]);
  expect(under('(Apache-2.0 AND BSD-3-Clause)')).toEqual([]);
  expect(under('(MIT OR GPL-3.0)')).toEqual(['thing is under (MIT OR GPL-3.0), which is not accepted.']);
  expect(under('Unknown')).toHaveLength(1);
});

test('an exception for one package holds for no other', () => {
  expect(under('LGPL-3.0+', 'openpgp')).toEqual([]);
  expect(under('LGPL-3.0+')).toHaveLength(1);
});
