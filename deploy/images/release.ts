// A release: `node deploy/images/release.ts [DIRECTORY]` writes what the images are made of (supply-chain.ts), names their
// bases by digest in bases.json, and builds from these alone. Ends with 1 where a base has no digest, or supply-chain.ts
// ends with 1. Variables as in build.ts.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './dependencies.ts';

const byDigest = /@sha256:[0-9a-f]{64}$/;

/**
 * The base images of `dockerfile`, or those that `environment` names in their place, each with its digest.
 * `repositoryDigests` gives what a registry says of a tag, `node@sha256:…`. Throws a sentence for a tag without one.
 */
export function pinBases(
  dockerfile: string,
  environment: NodeJS.ProcessEnv,
  repositoryDigests: (image: string) => readonly string[],
): Readonly<Record<string, string>> {
  const pin = (image: string) => {
    if (byDigest.test(image)) return image;
    const repository = image.replace(/:[^/]+$/, '');
    const found = repositoryDigests(image).find((each) => each.replace(byDigest, '') === repository);
    const digest = found && byDigest.exec(found)?.[0];
    if (digest) return `${image}${digest}`;
    throw new Error(`${image} is a tag, and no registry tells its digest: name the base as NAME@sha256:…`);
  };
  const declared = dockerfile.matchAll(/^ARG (BUILD_BASE|RUN_BASE)=(\S+)$/gm);
  return Object.fromEntries(
    [...declared].map(([, name = '', image = '']) => [name, pin(environment[name] || image)]),
  );
}

/** Pulled first: what this machine calls by the tag may be older, or its own. */
function pulledDigests(image: string): readonly string[] {
  const docker = (...words: string[]) =>
    spawnSync(process.env.DOCKER ?? 'docker', words, { encoding: 'utf8', timeout: 600_000 });
  if (docker('pull', '--quiet', image).status !== 0) return [];
  const { stdout } = docker('image', 'inspect', '--format', '{{json .RepoDigests}}', image);
  return JSON.parse(stdout) as readonly string[];
}

function release(target: string): boolean {
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
  const bases = pinBases(dockerfile, process.env, pulledDigests);
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
