// A release: `node deploy/images/release.ts [DIRECTORY]` writes what the images are made of (supply-chain.ts), records their
// bases in bases.json, and builds from these. Ends with 1 where a base is named by its tag alone, or supply-chain.ts ends
// with 1. Variables as in build.ts.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './supply-chain.ts';

/**
 * The base images of `dockerfile`, or their replacements in `environment`. Throws a sentence for one that is not
 * named by its digest.
 */
export function pinnedBases(
  dockerfile: string,
  environment: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  const declared = dockerfile.matchAll(/^ARG (BUILD_BASE|RUN_BASE)=(\S+)$/gm);
  const bases = [...declared].map(([, name = '', image = '']) => [name, environment[name] || image] as const);
  const tag = bases.find(([, image]) => !/@sha256:[0-9a-f]{64}$/.test(image));
  if (tag) throw new Error(`${tag[1]} is a tag, which its registry may move: name the base as NAME@sha256:…`);
  return Object.fromEntries(bases);
}

function release(target: string): boolean {
  const bases = pinnedBases(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'), process.env);
  const run = (script: string, ...words: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, script), ...words], {
      env: { ...process.env, ...bases },
      stdio: 'inherit',
    }).status === 0;
  if (!run('supply-chain.ts', target)) return false;
  writeFileSync(join(target, 'bases.json'), `${JSON.stringify(bases, null, 2)}\n`);
  return run('build.ts');
}

if (import.meta.main) {
  try {
    process.exitCode = release(resolve(process.argv[2] ?? join(root, 'dist/supply-chain'))) ? 0 : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
