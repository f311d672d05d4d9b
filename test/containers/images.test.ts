// Each image by itself: who it runs as, what it holds, how it refuses.
import { heapFlags } from '@course-exchange/local-stack/services';
import { imageOf } from '@course-exchange/testcontainers/images';
import { runToEnd } from '@course-exchange/testcontainers/product-container';
import { getContainerRuntimeClient } from 'testcontainers';
import { describe, expect, test } from 'vitest';

const needed = {
  gateway: ['ISSUER', 'IDENTITY_TARGET', 'CATALOG_TARGET'],
  identity: ['ISSUER', 'ENVIRONMENT', 'POSTGRES_URL', 'REDIS_URL', 'KEY_ENCRYPTION_KEY', 'USER_HASH_KEY'],
  'design-catalog': ['ISSUER', 'IDENTITY_TARGET', 'POSTGRES_URL', 'USER_HASH_KEY'],
  'demo-partner': ['PUBLIC_URL', 'ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'TOKEN_ENCRYPTION_KEY'],
  migrations: ['MIGRATOR_POSTGRES_URL', 'KEY_ENCRYPTION_KEY'],
} as const;
const names = Object.keys(needed) as (keyof typeof needed)[];

async function inspect(name: string) {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const { Config, Size } = await dockerode.getImage(imageOf(name)).inspect();
  console.log(`figure: ${name} ${(Size / 1e6).toFixed(1)} MB`);
  expect(Config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(Config.Labels['org.opencontainers.image.title']).toContain('course-exchange');
  expect(Config.Labels['org.opencontainers.image.revision']).toMatch(/^[0-9a-f]{40}$/);
  return { megabytes: Size / 1e6, entrypoint: Config.Entrypoint };
}

describe.concurrent.each(names)('the image %s', (name) => {
  test('says what it is, runs as a numeric account that is not root, and weighs no more than it must', async () => {
    const { megabytes, entrypoint } = await inspect(name);
    expect(entrypoint).toEqual(['/usr/local/bin/node', ...heapFlags]);
    // Node is 150 of them; a base with libc, certificates and time zones brings up to 25 more.
    expect(megabytes).toBeLessThan(185);
  });

  test('refuses to start without its settings, and names all that are missing', async () => {
    const { code, output } = await runToEnd(imageOf(name), {});
    expect(code).toBe(1);
    for (const setting of needed[name]) expect(output).toContain(`${setting} is missing: expected `);
    expect(output).not.toContain('listening');
  });

  test('has no shell', async () => {
    await expect(runToEnd(imageOf(name), { command: ['-e', shellSearch] })).resolves.toMatchObject({
      code: 0,
    });
  });
});

test('that of the contract suite weighs less than 220 MB', async () => {
  expect((await inspect('contract-tests')).megabytes).toBeLessThan(220);
});

/** Ends with 1 where a shell or a package manager lies. */
const shellSearch = `
  const paths = ['/bin', '/usr/bin', '/usr/local/bin', '/sbin'].flatMap((folder) =>
    ['sh', 'bash', 'dash', 'busybox', 'apt', 'apk'].map((name) => folder + '/' + name));
  process.exit(paths.some((path) => require('node:fs').existsSync(path)) ? 1 : 0)`;
