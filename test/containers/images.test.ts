// Each image by itself: who it runs as, what it holds, how it refuses, starts and stops.
import { smallHeap } from '@course-exchange/local-stack/services';
import { imageOf } from '@course-exchange/testcontainers/images';
import { runToEnd } from '@course-exchange/testcontainers/product-container';
import { serviceNames as services } from '@course-exchange/testcontainers/system';
import { getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers';
import { beforeAll, describe, expect, test } from 'vitest';
import { type System, startSystem } from './system.ts';

const serviceNames = [...services, 'demo-partner'] as const;
const allImages = [...serviceNames, 'migrations'] as const;
const needed: Readonly<Record<(typeof allImages)[number], readonly string[]>> = {
  gateway: ['ISSUER', 'IDENTITY_TARGET', 'CATALOG_TARGET'],
  identity: ['ISSUER', 'ENVIRONMENT', 'POSTGRES_URL', 'REDIS_URL', 'KEY_ENCRYPTION_KEY', 'USER_HASH_KEY'],
  'design-catalog': ['ISSUER', 'IDENTITY_TARGET', 'POSTGRES_URL', 'USER_HASH_KEY'],
  'demo-partner': ['PUBLIC_URL', 'ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'TOKEN_ENCRYPTION_KEY'],
  migrations: ['MIGRATOR_POSTGRES_URL', 'KEY_ENCRYPTION_KEY'],
};

describe.each(allImages)('the image %s', (name) => {
  test('says what it is, runs as a numeric account that is not root, and weighs no more than it must', async () => {
    const { dockerode } = (await getContainerRuntimeClient()).container;
    const image = await dockerode.getImage(imageOf(name)).inspect();
    expect(image.Config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(image.Config.Entrypoint).toEqual(['/usr/local/bin/node', ...smallHeap(name)]);
    expect(image.Config.Labels['org.opencontainers.image.title']).toContain('course-exchange');
    expect(image.Config.Labels['org.opencontainers.image.revision']).toMatch(/^[0-9a-f]{40}$/);
    console.log(`figure: ${name} ${(image.Size / 1e6).toFixed(1)} MB`);
    // Node is 150 of them; a base with libc, certificates and time zones brings up to 25 more.
    expect(image.Size / 1e6).toBeLessThan(185);
  });

  test('refuses to start without its settings, and names all that are missing', async () => {
    const { code, output } = await runToEnd(imageOf(name), {});
    expect(code).toBe(1);
    for (const setting of needed[name]) expect(output).toContain(`${setting} is missing: expected `);
    expect(output).not.toContain('listening');
  });

  test('refuses a value that is wrong without repeating it', async () => {
    const setting = name === 'migrations' ? 'MIGRATOR_POSTGRES_URL' : 'ISSUER';
    const { code, output } = await runToEnd(imageOf(name), {
      environment: { [setting]: 'not-an-address-9e1f' },
    });
    expect(code).toBe(1);
    expect(output).toContain(`${setting} is not valid: expected `);
    expect(output).not.toContain('9e1f');
  });

  test('has no shell', async () => {
    await expect(runToEnd(imageOf(name), { command: ['-e', shellSearch] })).resolves.toMatchObject({
      code: 0,
    });
  });
});

/** Ends with 1 where a shell or a package manager lies. */
const shellSearch = `
  const paths = ['/bin', '/usr/bin', '/usr/local/bin', '/sbin'].flatMap((folder) =>
    ['sh', 'bash', 'dash', 'busybox', 'apt', 'apk'].map((name) => folder + '/' + name));
  process.exit(paths.some((path) => require('node:fs').existsSync(path)) ? 1 : 0)`;

describe('the running services', () => {
  let system: System;

  beforeAll(async () => {
    system = await startSystem();
  });

  test.each(['identity', 'design-catalog'] as const)('%s has partnerctl on its PATH', async (name) => {
    const { exitCode, output } = await system.containers[name].exec(['partnerctl', '--help']);
    expect({ exitCode, output }).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining('Usage: partnerctl'),
    });
  });

  test('partnerctl finds the operator port of its own container, and needs no place to write', async () => {
    const { exitCode, output } = await system.containers.identity.exec([
      'partnerctl',
      'client',
      'list',
      '--json',
    ]);
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
    expect(output).toContain('"clientId"');
    const moved = await system.containers.identity.exec(['partnerctl', 'client', 'list'], {
      env: { OPERATOR_PORT: '7999' },
    });
    expect(moved.exitCode).toBe(3);
    expect(moved.output).toContain('127.0.0.1:7999 (OPERATOR_PORT)');
  });

  describe.each(serviceNames)('%s', (name) => {
    test('runs read-only, as a person of no rights, within 120 MiB', async () => {
      const container = system.containers[name];
      const { exitCode, output } = await inside(container, lookAround);
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
      const found = JSON.parse(output) as { uid: number; writable: boolean; residentMiB: number };
      expect(found).toMatchObject({ writable: false });
      expect(found.uid).toBeGreaterThan(0);
      console.log(
        `figure: ${name} ${found.residentMiB} MiB resident, ready after ${await readyAfter(container)} ms`,
      );
      expect(found.residentMiB).toBeLessThanOrEqual(120);
    });

    test('stops on SIGTERM within its time, with code 0', async () => {
      const { dockerode } = (await getContainerRuntimeClient()).container;
      const container = dockerode.getContainer(system.containers[name].getId());
      const begun = performance.now();
      const ended = container.wait() as Promise<{ StatusCode: number }>;
      await container.kill({ signal: 'SIGTERM' });
      expect((await ended).StatusCode).toBe(0);
      const spent = performance.now() - begun;
      console.log(`figure: ${name} stopped after ${spent.toFixed(0)} ms`);
      expect(spent).toBeLessThan(12_000);
    });
  });
});

const lookAround = `
  const { readFileSync, writeFileSync } = require('node:fs');
  let writable = true;
  try { writeFileSync('/app/probe', ''); } catch { writable = false; }
  const status = readFileSync('/proc/1/status', 'utf8');
  const number = (name) => Number(new RegExp(name + ':\\\\s+(\\\\d+)').exec(status)[1]);
  console.log(JSON.stringify({ uid: number('Uid'), writable, residentMiB: Math.round(number('VmRSS') / 1024) }));`;

function inside(
  container: StartedTestContainer,
  script: string,
): Promise<{ exitCode: number; output: string }> {
  return container.exec(['/usr/local/bin/node', '-e', script]);
}

/** Milliseconds from the start of the process to its line "listening", both by the engine's clock. */
async function readyAfter(container: StartedTestContainer): Promise<number> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const handle = dockerode.getContainer(container.getId());
  const { State } = await handle.inspect();
  const log = (await handle.logs({ stdout: true, stderr: true, timestamps: true, follow: false })).toString(
    'utf8',
  );
  const line = log.split('\n').find((candidate) => candidate.includes('"listening"')) ?? '';
  const [at = ''] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(line) ?? [];
  return Date.parse(at) - Date.parse(State.StartedAt);
}
