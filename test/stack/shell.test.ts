// `start` in the shell of a person who has set other programs up in it: it works, or ends in seconds with one sentence.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startProcess } from '../support/process.ts';
import { command, entry, newRunDirectory, untilGone } from '../support/stack.ts';
import { childrenOf } from '../support/system.ts';

let directory: string;
beforeEach(() => {
  directory = newRunDirectory();
});
afterEach(async () => {
  await command(['stop', '--run-dir', directory]);
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
});

/** Runs the stack's program after `before`, which a shell runs. */
async function inShell(before: string, variables: NodeJS.ProcessEnv, ...words: readonly string[]) {
  const all = [...words, '--run-dir', directory];
  const run = ['-c', `${before}; exec "$0" "$@"`, process.execPath, entry, ...all];
  const { exit, out, err } = await startProcess('sh', run, { ...process.env, ...variables }).ended;
  return { exit, output: out + err };
}

const nobody = 'http://127.0.0.1:9';

test('variables for other programs and a closed umask do not matter', async () => {
  const shell = {
    ...{ PGSSLMODE: 'require', PGOPTIONS: '-c nonsense=1', PGHOST: 'nowhere.invalid' },
    ...{ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: nobody, http_proxy: nobody, https_proxy: nobody },
    ...{ LOG_LEVEL: 'INFO', OTEL_METRICS_EXPORTER: 'console,otlp', NODE_OPTIONS: '--title=mine' },
  };
  const started = await inShell('umask 077', shell, 'start', '--detach', '--port', '0');
  expect(started).toMatchObject({ exit: 0 });
  expect(started.output).toContain('OTEL_METRICS_EXPORTER is not passed on to the services');
  expect(await inShell('umask 077', shell, 'status')).toMatchObject({ exit: 0 });
});

test.each([
  ['ulimit -n 256', {}, 'This shell allows 256 open files (ulimit -n): allow at least 1024'],
  [':', { XDG_CACHE_HOME: '', HOME: '/proc/none' }, 'set XDG_CACHE_HOME to a directory'],
  [':', { XDG_CACHE_HOME: '/dev/null' }, '/dev/null/course-exchange cannot be written (ENOTDIR)'],
])('%s with %j ends the start with a sentence', async (before, variables, sentence) => {
  for (const more of [[], ['--detach']]) {
    const { exit, output } = await inShell(before, variables, 'start', '--port', '0', ...more);
    expect(exit).toBe(1);
    expect(output).toContain(sentence);
    expect(output.trim().split('\n')).toHaveLength(1);
  }
});

test('a second SIGTERM ends a start in the background that hears no first', async () => {
  const words = [entry, 'start', '--detach', '--port', '0', '--run-dir', directory];
  const caller = spawn(process.execPath, words, { stdio: 'ignore' });
  const ended = once(caller, 'exit');
  const log = join(directory, 'logs/supervisor.log');
  await expect.poll(() => readFileSync(log, 'utf8')).toContain('Starting Postgres and Redis');
  const [supervisor = 0] = childrenOf(caller.pid ?? 0);
  process.kill(supervisor, 'SIGSTOP');
  caller.kill('SIGTERM');
  await sleep(1_500);
  caller.kill('SIGTERM');
  expect(await ended).toEqual([130, null]);
  await untilGone([supervisor], 10_000);
});
