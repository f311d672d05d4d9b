// The program that the partner guide and the README print, run as printed but for its port, which others may use.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../check/step.ts';
import { read } from '../docs/documents.ts';
import { stackFile } from '../support/stack-file.ts';
import { agree } from './user.ts';

test("the program in the partner guide and the README reads a user's events", async () => {
  const [printed = '', inReadme] = ['docs/partner-guide.md', 'README.md'].map(
    (page) => /^```js\n(.*?)^```$/ms.exec(read(page))?.[1],
  );
  expect(inReadme).toBe(printed);
  const home = mkdtempSync(join(tmpdir(), 'ten-lines-'));
  const { http } = await choosePorts(['http']);
  mkdirSync(join(home, 'node_modules'));
  symlinkSync(join(root, 'test/node_modules/openid-client'), join(home, 'node_modules/openid-client'));
  copyFileSync(stackFile(), join(home, 'stack.json'));
  writeFileSync(join(home, 'events.mjs'), printed.replace('listen(9099)', `listen(${http})`));
  const child = spawn(process.execPath, ['events.mjs'], { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(home, { recursive: true });
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const callback = new URL(await agree(line.replace('Open ', '')));
  const answer = await fetch(`http://127.0.0.1:${http}${callback.pathname}${callback.search}`);
  const { items } = (await answer.json()) as { items: unknown[] };
  // Other suites of this worker may have added some.
  expect(items.length).toBeGreaterThanOrEqual(12);
});
