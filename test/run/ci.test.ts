// What CI says at its end (.ci/run), with a package manager that only says what it was told to.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../check/step.ts';

const audit = 'vulnerabilities: the package registry answered no audit';

test('what could not be run stands before the count, the audit too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ce-ci-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const script = `#!/bin/sh\ncase $* in *:*) exit 2;; *--only*) echo '2 passed, 0 failed'; exit;; esac\necho 'NOT RUN ${audit}'\necho '3 passed, 0 failed'\n`;
  writeFileSync(join(folder, 'npx'), script, { mode: 0o755 });
  const PATH = [folder, process.env.PATH].join(delimiter);
  const { status, stdout } = spawnSync(join(root, '.ci/run'), {
    env: { ...process.env, PATH, KUBECONFIG: 'none' },
    encoding: 'utf8',
  });
  expect(stdout.trim().split('\n').slice(-6)).toEqual([
    `NOT RUN: ${audit}`,
    'NOT RUN: alerts (see above)',
    'NOT RUN: containers (see above)',
    'NOT RUN: cluster (see above)',
    '',
    '5 passed, 0 failed',
  ]);
  expect(status).toBe(0);
});
