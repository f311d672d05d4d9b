// The contract suite as an image, from inside the network of a system whose issuer is https: as `helm test` runs it.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { imageOf } from '@course-exchange/testcontainers/images';
import { type Ending, runToEnd } from '@course-exchange/testcontainers/product-container';
import { getContainerRuntimeClient } from 'testcontainers';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type System, startSystem } from './system.ts';

const issuer = 'https://exchange.test';
let system: System;

beforeAll(async () => {
  const given = { ISSUER: issuer };
  system = await startSystem(undefined, { gateway: given, identity: given, 'design-catalog': given });
});

function judge(environment: Readonly<Record<string, string>>, seed?: unknown): Promise<Ending> {
  const usual = { CONTRACT_ISSUER: issuer, CONTRACT_BASE_URL: 'http://gateway:8080' };
  return runToEnd(imageOf('contract-tests'), {
    environment: { ...usual, ...environment },
    network: system.network,
    scratch: true,
    ...(seed === undefined ? {} : { given: folderWith(seed) }),
  });
}

/** A folder with seed.json, for the account of the container to read. */
function folderWith(seed: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-contract-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'seed.json'), JSON.stringify(seed));
  return folder;
}

/** One partner, one user, and no word about either. */
function narrowSeed(change: { readonly name?: string } = {}): unknown {
  const { about: _, ...user } = demoUsers.typical;
  return { partners: [demoPartners('http://127.0.0.1')[1]], users: [{ ...user, ...change }] };
}

/** The figures of the line on clauses. */
function countOf({ output }: Ending): Readonly<Record<'all' | 'proven' | 'skipped' | 'failed', number>> {
  const line = /(?<all>\d+) clauses: (?<proven>\d+) proven, (?<skipped>\d+) skipped, (?<failed>\d+) failed/;
  const { all, proven, skipped, failed } = line.exec(output)?.groups ?? {};
  expect(all, output).toBeDefined();
  return { all: Number(all), proven: Number(proven), skipped: Number(skipped), failed: Number(failed) };
}

test.each(['once', 'again'])('with the demo data all clauses that need no store are proven, %s', async () => {
  const url = `http://127.0.0.1:${system.containers['demo-partner'].getMappedPort(9000)}`;
  const ending = await judge({ CONTRACT_DEMO: 'true', CONTRACT_DEMO_PARTNER_URL: url });
  expect(ending).toMatchObject({ code: 0 });
  const { all, proven, skipped, failed } = countOf(ending);
  console.log(`figure: ${proven} of ${all} clauses proven with the demo data, ${skipped} skipped`);
  expect({ failed, sum: proven + skipped }).toEqual({ failed: 0, sum: all });
  expect(proven).toBeGreaterThanOrEqual(217);
  expect(ending.output.trim().split('\n').length, 'clauses, tests skipped, the count').toBe(3);
});

test('one named partner and one user are enough; what they cannot prove is counted as skipped', async () => {
  const ending = await judge({ CONTRACT_SEED: '/given/seed.json' }, narrowSeed());
  expect(ending).toMatchObject({ code: 0 });
  const { proven, failed } = countOf(ending);
  console.log(`figure: ${proven} clauses proven with one partner and one user`);
  expect(failed).toBe(0);
  expect(proven).toBeGreaterThanOrEqual(178);
});

test('a clause that does not hold fails the run and is named', async () => {
  const ending = await judge({ CONTRACT_SEED: '/given/seed.json' }, narrowSeed({ name: 'Somebody Else' }));
  expect(ending.code).toBe(1);
  expect(countOf(ending).failed).toBeGreaterThan(0);
  expect(ending.output).toMatch(/^.*FAILED .*: ID token: exactly the claims/m);
  expect(ending.output).toContain('not proven S2.token.1: ');
});

test('another issuer is one sentence', async () => {
  const { code, output } = await judge({ CONTRACT_DEMO: 'true', CONTRACT_ISSUER: 'https://other.test' });
  expect(code).toBe(1);
  expect(output).toContain(`http://gateway:8080 is the issuer ${issuer}, expected https://other.test.`);
});

test('it says what it must be told, runs as nobody and weighs less than 220 MB', async () => {
  const { code, output } = await runToEnd(imageOf('contract-tests'), { scratch: true });
  expect(code).toBe(1);
  expect(output).toContain('CONTRACT_STACK is missing: expected it, or CONTRACT_SEED');
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const { Config, Size } = await dockerode.getImage(imageOf('contract-tests')).inspect();
  expect(Config.User).toBe('65532:65532');
  console.log(`figure: contract-tests ${(Size / 1e6).toFixed(1)} MB`);
  expect(Size / 1e6).toBeLessThan(220);
});
