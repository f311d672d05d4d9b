#!/usr/bin/env node
// partnerctl: what the operator of course-exchange works with. Here the process meets the tool: words, streams,
// clock, account, signals.
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { candidateLines } from './completion/candidates.ts';
import { coloursWanted, openTerminal } from './frame/terminal.ts';
import { runTool } from './frame/tool.ts';
import { root, tree } from './tree.ts';

const words = process.argv.slice(2);
// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', () => process.exit(0));

if (words[0] === '__complete') {
  process.stdout.write(candidateLines(tree, words.slice(1)));
} else {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  process.once('SIGTERM', () => interruption.abort());
  const { signal } = interruption;
  process.exitCode = await runTool(words, root, tree, {
    terminal: openTerminal(process, coloursWanted(process.env, words.includes('--no-color'))),
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
