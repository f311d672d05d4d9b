// Authlib (Python), as it comes, runs the whole flow: a client of another ecosystem.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { cacheDirectory } from '@course-exchange/local-stack/cache';
import { beforeAll, expect, test } from 'vitest';
import { runningStack } from '../support/running-stack.ts';
import { agree, type Method, methods, registrationOf } from './user.ts';

const run = promisify(execFile);
const packages = ['authlib==1.9.8', 'joserfc==1.8.0', 'requests==2.34.2'];
const registration = registrationOf(runningStack());
let python = '';

beforeAll(async () => {
  python = await pythonWithAuthlib();
}, 240_000);

/** Lets the script run the flow; returns what it learnt. */
async function flow(method: Method): Promise<Record<string, unknown>> {
  const env = { PATH: process.env.PATH, AUTHLIB_INSECURE_TRANSPORT: 'true' };
  const script = join(import.meta.dirname, 'authlib_flow.py');
  const child = spawn(python, [script], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify({ ...registration, method })}\n`);
  const authorizationUrl = String((await lines.next()).value);
  child.stdin.end(`${await agree(registration, authorizationUrl)}\n`);
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

/** Path of a Python that can import Authlib: a virtual environment in the cache, filled from PyPI once. Throws one sentence that says what is missing. */
async function pythonWithAuthlib(): Promise<string> {
  const home = join(cacheDirectory(), `python-${packages.join('-').replaceAll('==', '-')}`);
  const python = join(home, 'bin/python3');
  if (existsSync(python)) return python;
  await makeEnvironment(home).catch(async () => {
    await bringPython();
    await makeEnvironment(home);
  });
  return python;
}

async function makeEnvironment(home: string): Promise<void> {
  await mkdir(join(home, '..'), { recursive: true });
  // Filled before it is relied upon: the marker of a whole environment is its name.
  await rm(home, { recursive: true, force: true });
  const half = `${home}.${process.pid}`;
  await rm(half, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', half]);
  await run(join(half, 'bin/python3'), ['-m', 'pip', 'install', '--quiet', ...packages]);
  await rename(half, home);
}

async function bringPython(): Promise<void> {
  const sentence = 'The Authlib test needs python3 with venv and pip, and PyPI within reach.';
  if (process.getuid?.() !== 0) throw new Error(sentence);
  await run('apt-get', ['install', '--yes', '--quiet', 'python3-venv']).catch((cause) => {
    throw new Error(sentence, { cause });
  });
}
