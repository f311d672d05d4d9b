// docs/recovery.md as written: its blocks, and where they are run.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { StartedTestContainer } from 'testcontainers';
import { expect, vi } from 'vitest';
import { read, section, shellBlocks } from '../docs/documents.ts';
import { query } from './postgres.ts';

export const waiting = { timeout: 60_000, interval: 200 };

export const blocksOf = (heading: string): readonly string[] =>
  shellBlocks(section('docs/recovery.md', `## ${heading}`)).map((block) => block.trim());

export const docker = process.env.DOCKER ?? 'docker';

/**
 * Runs a block in `directory`; its `partnerctl` is that of identity's container, as `kubectl exec -i` runs it. Gives what
 * it printed, and throws where a command of it fails.
 */
export function runBlock(identity: StartedTestContainer, directory: string, block: string): string {
  const run = `'${docker}' exec -i ${identity.getId()} /usr/local/bin/node /app/partnerctl.js "$@"`;
  const words = ['-euo', 'pipefail', '-c', `partnerctl() { ${run}; }\n${block}`];
  const { status, stdout, stderr } = spawnSync('bash', words, { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${block}\n${stderr}`);
  return stdout;
}

/** Settings of a server that archives as the page says, to `/backup`. */
export const archiving = read('docs/recovery.md')
  .split('\n')
  .filter((line) => line.startsWith('archive_'))
  // On request alone: what is saved is not to depend on the time.
  .map((line) => line.replace(/ = '?/, '=').replace(/'$/, '').replace('timeout=60', 'timeout=0'));

export async function prepareArchive(postgres: StartedTestContainer): Promise<void> {
  const content = readFileSync(new URL('./pg-basebackup.sh', import.meta.url), 'utf8');
  await postgres.copyContentToContainer([{ content, target: '/opt/pg_basebackup', mode: 0o755 }]);
  await inContainer(postgres, 'mkdir -p /backup/wal && chown -R postgres /backup', 'root');
  await inContainer(postgres, ownProgramWhereItFits, 'root');
}

/** One that is older than the server, as Debian's, refuses it. */
const ownProgramWhereItFits = `version() { "$1" --version 2> /dev/null | grep -oE '[0-9]+' | head -n 1; }
if [ "$(version postgres)" = "$(version "$(PATH=\${PATH#/opt:} command -v pg_basebackup)")" ]; then rm /opt/pg_basebackup; fi`;

export async function inContainer(
  postgres: StartedTestContainer,
  block: string,
  user = 'postgres',
): Promise<string> {
  const words = ['sh', '-euc', `PATH=/opt:$PATH\n${block}`];
  const { exitCode, output, stdout } = await postgres.exec(words, { user });
  if (exitCode !== 0) throw new Error(`In the container of Postgres:\n${block}\n${output}`);
  return stdout;
}

/** All that is written so far is in the archive. */
export async function untilArchived(postgres: StartedTestContainer): Promise<void> {
  const switched = await query(postgres, 'select pg_walfile_name(pg_switch_wal())');
  const archived = () => query(postgres, 'select last_archived_wal from pg_stat_archiver');
  await vi.waitFor(async () => expect(await archived()).toEqual(switched), waiting);
}
