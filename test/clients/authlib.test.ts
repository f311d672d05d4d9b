// Authlib (Python), as docs/examples/python uses it, runs the whole flow: a client of another ecosystem.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../check/step.ts';
import { findProgram } from '../support/programs.ts';
import { openPartnerBrowser } from '../support/user-agent.ts';
import { agree, registration } from './user.ts';

test('Authlib runs the flow [R5.17 S5.flow.3 S5.flow.4]', async () => {
  const folder = join(root, 'docs/examples/python');
  const { command, env } = await findProgram('python');
  const { http } = await choosePorts(['http']);
  const { issuer, clientId, clientSecret, redirectUri } = registration;
  const registered = { ISSUER: issuer, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
  const child = spawn(command, ['main.py'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    // An access token lives for 900 s: each read refreshes.
    env: { ...env, ...registered, REDIRECT_URI: redirectUri, PORT: String(http), REFRESH_BEFORE: '900' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(createInterface(child.stdout), 'line');
  const browser = openPartnerBrowser(`http://127.0.0.1:${http}`);
  await browser.connect(async (request) => new URL(await agree(request.href)));
  for (const _ of [1, 2]) {
    const { answer } = await browser.load('/events');
    expect(answer.status).toBe(200);
    const { items } = answer.json() as { items: readonly unknown[] };
    expect(items.length).toBeGreaterThan(0);
  }
});
