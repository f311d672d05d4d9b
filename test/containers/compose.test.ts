// deploy/compose.yaml: `up --wait` brings the whole system up from nothing, and a partner reads events.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { defaultImages } from '@course-exchange/testcontainers/images';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../check/step.ts';
import { openCaller, tokensOf } from '../support/flow.ts';
import { send } from '../support/http.ts';

const run = promisify(execFile);
const [issuer, demoPartner] = ['http://127.0.0.1:18080', 'http://127.0.0.1:19000'];
/** The client with its first arguments. */
const compose = (process.env.COMPOSE ?? '').split(' ');

describe('compose', () => {
  const secrets = mkdtempSync(join(tmpdir(), 'course-exchange-compose-'));
  const environment = {
    ...process.env,
    SECRETS_DIRECTORY: secrets,
    HTTP_PORT: '18080',
    HEALTH_INTERVAL: '1s',
    DEMO_PARTNER_PORT: '19000',
    POSTGRES_IMAGE: defaultImages.postgres,
    REDIS_IMAGE: defaultImages.redis,
  };
  const [program = '', ...first] = compose;
  const call = (...words: string[]) =>
    run(
      program,
      [...first, '--file', 'deploy/compose.yaml', '--project-name', 'course-exchange-test', ...words],
      {
        cwd: root,
        env: environment,
      },
    );

  beforeAll(async () => {
    // What a run that was killed has left has other passwords.
    await call('down', '--volumes', '--timeout', '15');
    await run(process.execPath, ['deploy/images/compose-secrets.ts', secrets], { cwd: root });
  });

  afterAll(async () => {
    await call('down', '--volumes', '--timeout', '15');
    rmSync(secrets, { recursive: true, force: true });
  });

  test('brings the whole system up, and a partner reads events', async () => {
    const begun = performance.now();
    await call('up', '--wait', '--wait-timeout', '120');
    console.log(`figure: compose up --wait ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    const [partners, users] = [demoPartners(demoPartner), Object.values(demoUsers)];
    const caller = await openCaller({ issuer, partners, users });
    const { refresh_token } = await caller.newTokens();
    const { access_token } = tokensOf(await caller.refresh(refresh_token));
    expect((await caller.events(access_token)).json().items).toHaveLength(12);
    expect(await send(demoPartner)).toMatchObject({ status: 200 });
  });

  test('keeps every secret out of what the engine shows', async () => {
    const { stdout } = await call('config', '--environment');
    expect(stdout).not.toMatch(/PASSWORD=\S{20}/);
    const { stdout: listed } = await call('ps', '--format', 'json');
    expect(listed).toContain('identity');
  });
});
