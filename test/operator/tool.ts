// partnerctl as a separate process against the stack under test, the way an operator or a script runs it.
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { armor, Decrypter } from 'age-encryption';
import pg from 'pg';
import { expect } from 'vitest';
import { root } from '../check/step.ts';
import { type Outcome, startProcess } from '../support/process.ts';
import { stackFile } from '../support/stack-file.ts';

const main = join(root, 'services/partnerctl/src/main.ts');

/** The tool's own environment: the stack under test, and nothing that the test runner brought along. */
export function toolEnvironment(more: Environment = {}): Record<string, string> {
  const { PATH = '', HOME = '/', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE, TZ: 'UTC', PARTNERCTL_STACK: stackFile(), ...more };
}

/** `input`: what it reads from standard input; without it there is none. */
export function startTool(words: readonly string[], environment = toolEnvironment(), input?: string) {
  return startProcess(process.execPath, [main, ...words], environment, input);
}

type Environment = Readonly<Record<string, string>>;

export function tool(...words: string[]): Promise<Outcome> {
  return startTool(words).ended;
}

/** The JSON of a command that must end with 0. */
export async function answerOf(...words: string[]): Promise<Record<string, unknown>> {
  const { exit, out, err } = await tool(...words, '--json');
  if (exit !== 0) throw new Error(`partnerctl ${words.join(' ')} ended with ${exit}:\n${err}${out}`);
  return JSON.parse(out) as Record<string, unknown>;
}

/** The secret that partnerctl encrypted to an age recipient. */
export async function decrypted(identity: string, armoured: string): Promise<string> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(armor.decode(armoured), 'text');
}

/** A directory in which `partnerctl` lies, as it does in the images. */
export function toolOnPath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'partnerctl-path-'));
  const program = join(directory, 'partnerctl');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(program, 0o755);
  return directory;
}

/**
 * A row that an import must wait for: what comes before is committed, and the import can be cut off there. `insert` makes the
 * row, and leaves its transaction open.
 */
export async function holdRow(postgres: string | undefined, insert: string) {
  const client = new pg.Client(postgres);
  // Postgres may be what is killed.
  client.on('error', () => {});
  await client.connect();
  // Without the work of triggers, which would hold back the batches before.
  await client.query(`begin; set local session_replication_role = replica; ${insert}`);
  const waiting = 'select count(*)::int as count from pg_locks where not granted';
  return {
    reached: () =>
      expect
        .poll(async () => (await client.query(waiting)).rows[0].count, { timeout: 30_000, interval: 5 })
        .toBeGreaterThan(0),
    release: () => client.end().catch(() => {}),
  };
}
