#!/usr/bin/env node
// partnerctl, the operator's tool: connects the process (argv, streams, clock, account, signals) to the commands.
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from './cli/cli.ts';
import { candidateLines } from './cli/completion.ts';
import { createProgram } from './cli/program.ts';
import { openTerminal } from './cli/terminal.ts';

const argv = process.argv.slice(2);
// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', () => process.exit(0));
// connect-node hears the first error of a session. A port that speaks something else causes a second one.
process.on('uncaughtException', (error) => {
  if ('code' in error && error.code === 'ERR_HTTP2_ERROR') return;
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

if (argv[0] === '__complete') {
  process.stdout.write(candidateLines(createProgram(), argv.slice(1)));
} else {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  process.once('SIGTERM', () => interruption.abort());
  const { signal } = interruption;
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

/** A container's user may have no entry among the accounts. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
