// What images, Compose and CI are built from: digests, commits and exact versions alone.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pinnedBases } from './release.ts';
import { root } from './supply-chain.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dockerfile = read('deploy/Dockerfile');
const digest = `sha256:${'1'.repeat(64)}`;

test('both bases of the Dockerfile are named by digest, and pnpm by its exact version', () => {
  const byDigest = expect.stringMatching(/:[\w.-]+@sha256:[0-9a-f]{64}$/);
  expect(pinnedBases(dockerfile, {})).toEqual({ BUILD_BASE: byDigest, RUN_BASE: byDigest });
  expect(dockerfile).toMatch(/^ARG PNPM_VERSION=\d+\.\d+\.\d+$/m);
});

test('CI runs actions by commit, and the pnpm that the images are built with', () => {
  const actions = [...read('.github/workflows/ci.yml').matchAll(/uses: (.*)/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(3);
  for (const action of actions) expect(action).toMatch(/@[0-9a-f]{40} # v[\d.]+$/);
  expect(read('.ci/run')).not.toContain('pnpm@12');
});

test('Compose takes its stores by digest', () => {
  expect(read('deploy/compose.yaml').match(/_IMAGE:-\S+@sha256:[0-9a-f]{64}\}/g)).toHaveLength(2);
});

test('a base that the environment names by digest is taken, and one by tag is refused', () => {
  const given = { BUILD_BASE: `127.0.0.1:5000/node@${digest}` };
  expect(pinnedBases(dockerfile, given)).toMatchObject(given);
  const program = join(import.meta.dirname, 'release.ts');
  const env = { ...process.env, RUN_BASE: 'mirror.example/copy:1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('mirror.example/copy:1 is a tag');
});
