// The version that an upgrade starts from: images and chart of the commit before this one, from a work tree of its own.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CommitBefore {
  /** Its chart, in a work tree that `remove` takes away. */
  readonly chart: string;
  readonly commit: string;
  readonly remove: () => void;
}

export interface BuildOptions {
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly tag: string;
  /** Words of deploy/images/build.ts. */
  readonly words: readonly string[];
  readonly say: (line: string) => void;
}

/** Undefined, with a line that says why, where there is no such commit or it cannot be built with the bases at hand. */
export function buildCommitBefore(options: BuildOptions): CommitBefore | undefined {
  const { root, environment, tag, words, say } = options;
  const git = (...parts: string[]) => run('git', parts, root, process.env);
  const without = (why: string) => {
    say(`The upgrade starts from this very commit: ${why}.`);
    return undefined;
  };
  const commit = git('rev-parse', '--verify', '--quiet', 'HEAD^').stdout.trim();
  if (commit === '') return without('the one before is not in this clone');
  const tree = mkdtempSync(join(tmpdir(), 'course-exchange-before-'));
  const remove = () => void git('worktree', 'remove', '--force', tree);
  if (git('worktree', 'add', '--force', '--detach', tree, commit).status !== 0)
    return without('no work tree can be made of the one before');
  const chart = join(tree, 'helm/course-exchange');
  const sameLock = (file: string) =>
    readFileSync(join(tree, file), 'utf8') === readFileSync(join(root, file), 'utf8');
  const reason = !existsSync(chart)
    ? 'the one before has no chart'
    : !sameLock('pnpm-lock.yaml')
      ? 'the one before has other packages, which the base of the images does not hold'
      : undefined;
  if (reason === undefined) {
    say(`Building the images of the commit before, ${commit.slice(0, 9)} …`);
    const built = run(process.execPath, ['deploy/images/build.ts', ...words], tree, {
      ...environment,
      IMAGE_TAG: tag,
    });
    if (built.status === 0) return { chart, commit, remove };
    say(built.stderr || built.stdout);
  }
  remove();
  return without(reason ?? 'the one before cannot be built');
}

function run(
  program: string,
  words: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): SpawnSyncReturns<string> {
  return spawnSync(program, words, { cwd, env, encoding: 'utf8' });
}
