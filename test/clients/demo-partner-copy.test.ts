// The folder of the demo partner, copied out of the repository, installed and run by itself: what a partner does.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { root } from '../check/step.ts';
import { filesOfProject } from '../docs/documents.ts';
import { openPartnerBrowser } from '../support/user-agent.ts';
import { agree, registration } from './user.ts';

const source = 'services/demo-partner/';
const folder = mkdtempSync(join(tmpdir(), 'demo-partner-copy-'));
/** The origin of the registered callback; the copy listens elsewhere and the test carries the browser across. */
const publicUrl = new URL(registration.redirectUri).origin;
let address: string;
let partner: ChildProcess;
let output = '';

beforeAll(async () => {
  for (const file of filesOfProject().filter((path) => path.startsWith(source)))
    cpSync(join(root, file), join(folder, relative(source, file)));
  const options = ['install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', options, { cwd: folder, timeout: 150_000 });
  const ports = await choosePorts(['http', 'health']);
  address = `http://127.0.0.1:${ports.http}`;
  partner = spawn(process.execPath, ['src/main.ts'], {
    cwd: folder,
    env: {
      PUBLIC_URL: publicUrl,
      ISSUER: registration.issuer,
      CLIENT_ID: registration.clientId,
      CLIENT_SECRET: registration.clientSecret,
      TOKEN_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
      DATABASE_FILE: join(folder, 'partner.sqlite'),
      HTTP_PORT: String(ports.http),
      HEALTH_PORT: String(ports.health),
    },
  });
  for (const stream of [partner.stdout, partner.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += String(chunk);
    });
  }
  await vi.waitFor(
    async () => expect((await fetch(`http://127.0.0.1:${ports.health}/readyz`)).ok, output).toBe(true),
    { timeout: 60_000, interval: 100 },
  );
});

afterAll(() => {
  partner?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

test('it connects a user, reads, refreshes, disconnects and stops on SIGTERM', async () => {
  const { load, connect, press } = openPartnerBrowser(address);
  const { arrival } = await connect(async (request) => new URL(await agree(request.href)));
  expect(arrival.url).toBe(`${address}/events`);
  expect(arrival.answer.text.match(/<li/g)?.length).toBeGreaterThan(5);
  expect((await press('/refresh'))?.answer.status).toBe(200);
  expect((await load('/events')).answer.status).toBe(200);
  expect((await press('/disconnect'))?.url).toBe(`${address}/disconnected`);
  expect((await load('/events')).answer.status).toBe(401);
  const ended = new Promise((done) => partner.once('exit', done));
  partner.kill('SIGTERM');
  expect(await ended, basename(folder)).toBe(0);
  expect(output).toContain('"message":"stopped"');
});
