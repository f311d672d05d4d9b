#!/usr/bin/env node
// partnerctl, the operator's tool: connects the process (argv, streams, clock, account, signals) to the commands.
import { randomUUID } from 'node:crypto';
import { enableCompileCache } from 'node:module';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// Halves the start of a command. Not in /tmp: another account could plant code there.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache'));

const argv = process.argv.slice(2);
// A reader that stops early, such as `head`, is no failure.
process.stdout.on('error', () => process.exit(0));
// A port of another protocol causes a second error, which connect-node does not handle.
process.on('uncaughtException', (error) => {
  if ('code' in error && error.code === 'ERR_HTTP2_ERROR') return;
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

if (argv[0] === '__complete') {
  const { candidateLines } = await import('./completion.ts');
  const { createProgram } = await import('./program.ts');
  process.stdout.write(candidateLines(createProgram(), argv.slice(1)));
} else {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  process.once('SIGTERM', () => interruption.abort());
  const { signal } = interruption;
  const { runCli } = await import('./cli.ts');
  const { openTerminal } = await import('./output/terminal.ts');
  process.exitCode = await runCli(argv, {
    terminal: openTerminal(process, argv.includes('--no-color')),
    environment: process.env,
    directory: process.env.INIT_CWD ?? process.cwd(),
    actor: accountName(),
    newRequestId: randomUUID,
    now: () => new Date(),
    sleep: (ms) => sleep(ms, undefined, { signal }),
    signal,
    input: process.stdin,
  });
}

/** A container's user may have no account entry. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
