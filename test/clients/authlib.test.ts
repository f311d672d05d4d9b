// Authlib (Python), as it comes, runs the whole flow: a client of another ecosystem.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, test } from 'vitest';
import { findPython, pythonPackages } from '../support/programs.ts';
import { agree, type Method, methods, registration } from './user.ts';

const packages = ['authlib==1.9.8', 'joserfc==1.8.0', 'requests==2.34.2'];
let python: Awaited<ReturnType<typeof findPython>>;
let PYTHONPATH: string;

beforeAll(async () => {
  python = await findPython();
  PYTHONPATH = await pythonPackages(packages.join('-').replaceAll('==', '-'), packages);
}, 240_000);

/** Lets the script run the flow; returns what it learnt. */
async function flow(method: Method): Promise<Record<string, unknown>> {
  const env = { PATH: process.env.PATH, PYTHONPATH, AUTHLIB_INSECURE_TRANSPORT: 'true', ...python.env };
  const script = join(import.meta.dirname, 'authlib_flow.py');
  const child = spawn(python.command, [script], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify({ ...registration, method })}\n`);
  const authorizationUrl = String((await lines.next()).value);
  child.stdin.end(`${await agree(authorizationUrl)}\n`);
  const learnt = await lines.next();
  if (learnt.done) throw new Error('Authlib gave up; its trace stands above.');
  return JSON.parse(learnt.value);
}

test.each(methods)('Authlib runs the flow with %s [R5.17 S5.flow.3 S5.flow.4]', async (method) => {
  const { user, issuer, clientId } = registration;
  expect(await flow(method)).toMatchObject({
    issuer,
    claims: { iss: issuer, sub: user.sub, aud: clientId, email: user.email, token_use: 'id_token' },
    userInfo: { sub: user.sub, email: user.email, name: user.name },
    refreshedAnew: true,
    eventsStatus: 200,
    events: expect.toSatisfy((count: number) => count > 0),
  });
});
