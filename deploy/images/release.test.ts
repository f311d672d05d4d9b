// From which bases a release is built: by digest alone.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './dependencies.ts';
import { pinBases } from './release.ts';

const [one, other] = ['1', '2'].map((digit) => `sha256:${digit.repeat(64)}`);
const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
const told = (image: string) => [
  `mirror.example/copy@${other}`,
  image.startsWith('gcr.io/') ? `gcr.io/distroless/cc-debian12@${other}` : `node@${one}`,
];

test('both bases of the Dockerfile get the digest that their own repository tells', () => {
  expect(pinBases(dockerfile, {}, told)).toEqual({
    BUILD_BASE: `node:26-bookworm-slim@${one}`,
    RUN_BASE: `gcr.io/distroless/cc-debian12:nonroot@${other}`,
  });
});

test('a base that is named by digest is taken as it is, and one in place of the default is asked for', () => {
  const given = { BUILD_BASE: `127.0.0.1:5000/node@${one}`, RUN_BASE: 'mirror.example/copy:1' };
  expect(pinBases(dockerfile, given, told)).toEqual({
    BUILD_BASE: given.BUILD_BASE,
    RUN_BASE: `mirror.example/copy:1@${other}`,
  });
});

test.each([
  ['nothing', []],
  ['another repository', [`other@${one}`]],
  ['no digest', ['node@sha256:1', 'node']],
])('a tag of which a registry tells %s is refused', (_, digests) => {
  expect(() => pinBases(dockerfile, {}, () => digests)).toThrow('node:26-bookworm-slim is a tag');
});

test('the command builds nothing from a tag', () => {
  const environment = { ...process.env, DOCKER: 'false', BUILD_BASE: '', RUN_BASE: '' };
  const program = join(import.meta.dirname, 'release.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    env: environment,
    encoding: 'utf8',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('node:26-bookworm-slim is a tag');
});
