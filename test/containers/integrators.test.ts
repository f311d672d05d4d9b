// What an integrator has of @course-exchange/testcontainers: the suite that the partner guide prints, run as printed on the
// package as it is packed; a code without a browser; a sentence for each thing that is missing; nothing left behind.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CourseExchange, type StartedCourseExchange, type User } from '@course-exchange/testcontainers';
import { defaultImages } from '@course-exchange/testcontainers/images';
import { GenericContainer, getContainerRuntimeClient } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { pnpm } from '../../deploy/images/supply-chain.ts';
import { root } from '../check/step.ts';
import { section } from '../docs/documents.ts';
import { discover, token } from '../support/flow.ts';
import { send } from '../support/http.ts';

const run = promisify(execFile);

/** The containers and networks of systems: others may use the engine meanwhile. */
async function inventory(): Promise<readonly string[]> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const filters = { label: ['course-exchange.testcontainers'] };
  const containers = await dockerode.listContainers({ all: true, filters });
  const networks = await dockerode.listNetworks({ filters: { name: ['course-exchange-testcontainers-'] } });
  const names = [
    ...containers.map(({ Names }) => `container ${Names[0]}`),
    ...networks.map(({ Name }) => `network ${Name}`),
  ];
  return names.sort();
}

/** Tells which of its volumes the engine still has. */
async function volumesOf({ containers }: StartedCourseExchange): Promise<() => Promise<readonly string[]>> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const inspected = await Promise.all(
    Object.values(containers).map((container) => dockerode.getContainer(container.getId()).inspect()),
  );
  const mounted = new Set(inspected.flatMap(({ Mounts }) => Mounts.map(({ Name }) => Name)));
  // Podman says null for none.
  return async () =>
    ((await dockerode.listVolumes()).Volumes ?? [])
      .map(({ Name }) => Name)
      .filter((name) => mounted.has(name));
}

const failureOf = (exchange: CourseExchange): Promise<string> =>
  exchange.start().then(
    () => 'It starts.',
    ({ message }: Error) => message,
  );

describe.concurrent('beside one another, and nothing is left behind', () => {
  let before: readonly string[];
  beforeAll(async () => {
    before = await inventory();
  });
  afterAll(async () => {
    expect(await inventory()).toEqual(before);
  });

  const [, printed = ''] =
    /^```ts\n(.*?)^```$/ms.exec(section('docs/partner-guide.md', '## A suite of your own')) ?? [];

  test('the suite of the partner guide runs as printed, on the package as packed', async ({
    onTestFinished,
  }) => {
    const home = mkdtempSync(join(tmpdir(), 'course-exchange-integrator-'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    await installPackage(home);
    writeFileSync(join(home, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(home, 'suite.test.ts'), printed);
    const begun = performance.now();
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=spec', 'suite.test.ts'], {
      cwd: home,
    }).catch((error) => error);
    console.log(`figure: the guide's suite took ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
    expect(stdout).toMatch(/^ℹ pass 2$/m);
    const words =
      '--strict --noEmit --module nodenext --target esnext --types node --exactOptionalPropertyTypes';
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const compiled = run(process.execPath, [compiler, ...words.split(' '), 'suite.test.ts'], { cwd: home });
    await expect(compiled).resolves.toMatchObject({ stdout: '' });
  });

  /** What npm would do with the package's tarball and what it depends on. */
  async function installPackage(home: string): Promise<void> {
    const packages = join(home, 'node_modules');
    const target = join(packages, '@course-exchange/testcontainers');
    for (const folder of [target, join(packages, '@testcontainers'), join(packages, '@types')])
      mkdirSync(folder, { recursive: true });
    const packed = await pnpm(['--dir', 'deploy/testcontainers', 'pack', '--pack-destination', home]);
    expect(packed, packed.stderr).toMatchObject({ status: 0 });
    const tarball = join(home, 'course-exchange-testcontainers-0.1.0.tgz');
    await run('tar', ['--extract', '--file', tarball, '--strip-components=1', '--directory', target]);
    const installed = {
      testcontainers: 'deploy/testcontainers',
      '@testcontainers/postgresql': 'deploy/testcontainers',
      '@testcontainers/redis': 'deploy/testcontainers',
      'openid-client': 'test',
      '@types/node': '.',
    };
    for (const [name, of] of Object.entries(installed))
      symlinkSync(join(root, of, 'node_modules', name), join(packages, name));
  }

  test('an image is missing, a port in use, a partner refused, a service ends half-way: each in a sentence', async ({
    onTestFinished,
  }) => {
    const server = createServer().listen(0, '0.0.0.0');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    expect(await failureOf(new CourseExchange().withImages({ prefix: 'course-exchange-absent' }))).toMatch(
      /^Images are missing .*failed:\n +course-exchange-absent\/migrations:\S+: \(HTTP code \d+\) .*\nLoad, build/s,
    );
    expect(await failureOf(new CourseExchange().withPort(port))).toMatch(
      new RegExp(`^Port ${port} is in use: end what listens there`),
    );
    const other = { redirectUri: 'http://other.example/cb' };
    const refused = await failureOf(new CourseExchange().withPartner(other));
    expect(refused).toContain('"http://other.example/cb": Its scheme is not https.');
    expect(refused.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    const wrong = { LOGIN_HASHING_CONCURRENCY: 'many' };
    expect(await failureOf(new CourseExchange().withEnvironment('identity', wrong))).toMatch(
      /identity:\S+ does not start: .*LOGIN_HASHING_CONCURRENCY is not valid/s,
    );
  });
});

describe('a started system', () => {
  let before: readonly string[];
  let exchange: StartedCourseExchange;

  beforeAll(async () => {
    before = await inventory();
    // What a compiler would refuse.
    const unset = { clientId: undefined, scopes: undefined } as object;
    const begun = performance.now();
    exchange = await new CourseExchange()
      .withPartner({ redirectUri: 'http://127.0.0.1:3000/callback', ...unset })
      .withPartner({ redirectUri: 'https://second.example/cb', clientId: 'second', scopes: ['openid'] })
      .withUser({ events: 30, name: 'Ada <Lovelace> & "friends"' })
      .withUser({ disabled: true })
      .start();
    console.log(
      `figure: a system for integrators is ready after ${((performance.now() - begun) / 1_000).toFixed(1)} s`,
    );
  });

  afterAll(async () => {
    await exchange.stop();
    expect(await inventory()).toEqual(before);
  });

  test('gives one code per request', async () => {
    const { issuer, partner, users } = exchange;
    const { code } = await exchange.authorize(users[0]);
    const form = { grant_type: 'authorization_code', code, redirect_uri: partner.redirectUris[0] };
    const { token_endpoint } = await discover(issuer);
    const granted = await token(token_endpoint, { ...partner, active: true }, form);
    expect(granted.status).toBe(200);
    const headers = { authorization: `Bearer ${granted.json().access_token}` };
    expect((await send(`${issuer}/api/events`, { headers })).json().items).toHaveLength(30);
    expect((await token(token_endpoint, { ...partner, active: true }, form)).status).toBe(400);
  });

  test('rehearses a failure, and names the duty that a client breaks', async () => {
    const careless = async () => {
      const { code } = await exchange.authorize(exchange.users[0]);
      const body = new URLSearchParams({ grant_type: 'authorization_code', code });
      await fetch(`${exchange.issuer}/token`, { method: 'POST', body });
    };
    await expect(exchange.rehearse('callback-other-state', careless)).rejects.toThrow(/ check-state \(S5/);
    await expect(exchange.rehearse('refresh-answer-lost', careless)).rejects.toThrow(/not played/);
  });

  test('follows the request of a backend, and comes back with its state', async () => {
    const { authorization_endpoint } = await discover(exchange.issuer);
    const query = `response_type=code&client_id=second&redirect_uri=https%3A%2F%2Fsecond.example%2Fcb&scope=openid&state=a+b`;
    const { callback } = await exchange.authorize(exchange.users[0], `${authorization_endpoint}?${query}`);
    expect(callback.origin + callback.pathname).toBe('https://second.example/cb');
    expect(callback.searchParams.get('state')).toBe('a b');
    const declined = await exchange.decline(`${authorization_endpoint}?${query}`);
    expect(declined.searchParams.get('error')).toBe('access_denied');
    await expect(
      exchange.authorize(exchange.users[0], `${authorization_endpoint}?client_id=no`),
    ).rejects.toThrow(/^\/authorize answers 400: .*invalid_client/);
  });

  test('says who may not log in', async () => {
    const [, disabled] = exchange.users;
    await expect(exchange.authorize(disabled as User)).rejects.toThrow(
      /^The login of user-2@example.com is refused: /,
    );
  });

  test('is operated by partnerctl', async () => {
    expect(await exchange.partnerctl('client', 'list')).toContain('second');
    await exchange.partnerctl('client', 'deactivate', 'second', '--yes');
    await expect(exchange.partnerctl('client', 'show', 'nobody')).rejects.toThrow(
      /^partnerctl client ended with 5: .*nobody/s,
    );
  });

  test('stops under a container of the integrator, and once', async () => {
    const left = await volumesOf(exchange);
    expect(await left()).not.toEqual([]);
    const joined = await new GenericContainer(defaultImages.redis).withNetwork(exchange.network).start();
    onTestFinished(async () => void (await joined.stop()));
    await exchange.stop();
    await exchange[Symbol.asyncDispose]();
    expect(await inventory()).toEqual(before);
    expect(await left()).toEqual([]);
  });
});

describe('a start that fails says why in a sentence', () => {
  test('the cleaner of testcontainers is missing', async () => {
    const ryuk = {
      TESTCONTAINERS_RYUK_DISABLED: 'false',
      RYUK_CONTAINER_IMAGE: 'course-exchange-absent/ryuk:1',
    };
    expect(await startWith(ryuk)).toMatch(
      /^testcontainers cannot start its cleaner, Ryuk \(.+\): load its image, or set TESTCONTAINERS_RYUK_DISABLED=true/,
    );
  });

  // Its socket would be found at its usual place.
  test.skipIf(existsSync('/var/run/docker.sock'))('no engine answers', async () => {
    expect(await startWith({ DOCKER_HOST: 'unix:///nowhere/docker.sock' })).toBe(
      'No Docker engine answers: start one, or name one by DOCKER_HOST.',
    );
  });

  /** What a separate process prints, because testcontainers reads the environment once. */
  async function startWith(environment: NodeJS.ProcessEnv): Promise<string> {
    const script =
      "import('@course-exchange/testcontainers').then(({ CourseExchange }) => new CourseExchange().start())" +
      '.catch((error) => console.log(error.message))';
    const { stdout } = await run(process.execPath, ['--eval', script], {
      cwd: join(root, 'test'),
      env: { ...process.env, ...environment },
    });
    return stdout.trim();
  }
});
