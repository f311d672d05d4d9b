// The longest states through nginx, whose default buffers are smaller than a redirect that holds one (R3.4, R3.6).
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { root } from '../check/step.ts';
import { authorizeUrl, formWith, logIn, openCaller } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { findProgram } from '../support/programs.ts';
import { runningStack } from '../support/stack-file.ts';
import { openUserAgent, type Page } from '../support/user-agent.ts';

const program = await findProgram('nginx').catch(() => undefined);

/** What the guide wants of an nginx that somebody sets up. */
const [, documented = ''] =
  /```nginx\n(.*?)```/s.exec(readFileSync(join(root, 'docs/install.md'), 'utf8')) ?? [];

const states: readonly (readonly [string, string])[] = [
  ['ASCII', 'a'.repeat(2_048)],
  ['JSON', '{"'.repeat(1_024)],
  ['base64', '+/'.repeat(1_024)],
  ['non-ASCII', 'é'.repeat(1_024)],
  ['control characters', '\n'.repeat(2_048)],
];

/** In front of the stack's gateway, with these directives of its server. */
async function startNginx(gateway: string, directives: string) {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
  const { nginx: port } = await choosePorts(['nginx']);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http {
  access_log off;
  ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    ${directives}
    location / { proxy_pass ${gateway}; proxy_set_header Host $http_host; }
  }
}`,
  );
  const { command = '', env = {} } = program ?? {};
  const child = spawn(command, ['-p', folder, '-c', file, '-e', 'stderr'], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  const origin = `http://127.0.0.1:${port}`;
  const stop = () => child.kill();
  await vi
    .waitFor(() => send(`${origin}/nothing`), { timeout: 30_000 })
    .catch((error: unknown) => {
      stop();
      throw error;
    });
  return { origin, stop };
}

describe.skipIf(program === undefined)('behind nginx', async () => {
  const { partner, user, newTokens } = await openCaller(runningStack());
  const gateway = runningStack().issuer;
  let nginx: Awaited<ReturnType<typeof startNginx>>;
  let untouched: typeof nginx;
  beforeAll(async () => {
    // Consent is remembered from here on.
    await newTokens();
    nginx = await startNginx(gateway, documented);
    untouched = await startNginx(gateway, '');
  });
  afterAll(() => {
    nginx?.stop();
    untouched?.stop();
  });

  const begin = (agent: ReturnType<typeof openUserAgent>, origin: string, parameters: object = {}) =>
    agent.visit(authorizeUrl(`${origin}/authorize`, partner, { ...parameters }));

  test.each(states)(
    'a state of 2,048 bytes comes back by every redirect: %s [R3.4 R3.6]',
    async (_, state) => {
      const agent = openUserAgent(nginx.origin);
      const asked = { state, nonce: state.replaceAll(/[^a]/g, 'n') };
      const refused = await begin(agent, nginx.origin, { ...asked, prompt: 'none' });
      const login = (await begin(agent, nginx.origin, asked)) as Page;
      const loggedIn = await logIn(agent, login, user);
      const remembered = await begin(agent, nginx.origin, asked);
      const page = (await begin(agent, nginx.origin, { ...asked, prompt: 'consent' })) as Page;
      const consent = formWith(page, 'decision', 'deny');
      const denied = consent && (await agent.submit(page, consent, {}, 'decision=deny'));
      for (const outcome of [refused, loggedIn, remembered, denied]) {
        if (outcome?.kind !== 'departure') throw new Error(`${outcome?.answer.status} ${outcome?.text}`);
        expect(outcome.parameters.get('state')).toBe(state);
      }
    },
  );

  test('with default buffers every other answer comes, and a redirect with 1 kB of base64url', async () => {
    const agent = openUserAgent(untouched.origin);
    for (let nth = 0; nth < 70; nth++) {
      const name = `course-exchange-interaction-${nth}`;
      agent.cookies.set(name, { name, value: 'b'.repeat(43), attributes: '' });
    }
    const state = 's'.repeat(1_024);
    const login = (await begin(agent, untouched.origin, { state })) as Page;
    expect([login.answer.status, login.answer.headers['set-cookie']?.length]).toEqual([200, 15]);
    const loggedIn = await logIn(agent, login, user);
    if (loggedIn.kind !== 'departure') throw new Error(`${loggedIn.answer.status} ${loggedIn.text}`);
    expect(loggedIn.parameters.get('state')).toBe(state);
  });
});
