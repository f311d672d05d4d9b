// Runs what docs/install.md tells an operator to run: its blocks, and the script that prepares a namespace.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { read, shellBlocks } from '../docs/documents.ts';
import type { Kube } from './kube.ts';
import { helmProgram, kubectlProgram } from './settings.ts';
import type { Stores } from './stores.ts';
import { secretNames } from './values.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** The blocks of one section, in order. Throws where there is none. */
export function blocksOf(title: string): readonly string[] {
  const section = read('docs/install.md')
    .split(/^##+ /m)
    .find((part) => part.startsWith(`${title}\n`));
  const blocks = shellBlocks(section ?? '');
  if (blocks.length === 0) throw new Error(`docs/install.md has no block in a section "${title}".`);
  return blocks;
}

/** Runs the blocks as one script and prints what they say; rejects with their last words where one fails. */
export function runBlocks(
  blocks: readonly string[],
  variables: Readonly<Record<string, string>>,
  directory = checkout,
): Promise<string> {
  const folders = [kubectlProgram, helmProgram].filter((program) => program.includes('/')).map(dirname);
  const path = [...folders, process.env.PATH].join(':');
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', blocks.join('\n')], {
      cwd: directory,
      env: { ...process.env, ...variables, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        process.stdout.write(text);
      });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0
        ? resolve(said)
        : reject(new Error(`The blocks ended with ${code}: ${said.trim().slice(-600)}`)),
    );
  });
}

/** Makes what is missing in the namespace; this process trusts the ingress' authority from then on. Resolves with what was said. */
export async function prepare(
  { namespace, get }: Kube,
  { redisPassword, psql }: Stores,
  hosts: Readonly<Record<string, string>>,
): Promise<string> {
  const variables = { NAMESPACE: namespace, REDIS_PASSWORD: redisPassword, PSQL: psql, ...hosts };
  const said = await runBlocks(['deploy/kubernetes/prepare.sh'], variables);
  await trustIngress({ get });
  return said;
}

export async function trustIngress({ get }: Pick<Kube, 'get'>): Promise<void> {
  const { data } = await get<{ data: Record<string, string> }>('secret', secretNames.ingress);
  const authority = Buffer.from(data['ca.crt'] ?? '', 'base64').toString('utf8');
  setDefaultCACertificates([...getCACertificates('default'), authority]);
}
