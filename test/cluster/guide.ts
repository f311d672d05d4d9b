// Runs what docs/install.md tells an operator to run: its blocks, and the script that prepares a namespace.
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { root } from '../check/step.ts';
import { section, shellBlocks } from '../docs/documents.ts';
import type { Kube } from './kube.ts';
import { helmProgram, kubectlProgram } from './settings.ts';

/** The blocks under a heading of docs/install.md, in order. */
export const blocksOf = (heading: string) => shellBlocks(section('docs/install.md', heading));

/** Runs the blocks as one script and prints what they say; rejects with their last words where one fails. */
export function runBlocks(
  blocks: readonly string[],
  variables: Readonly<Record<string, string>>,
  directory = root,
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
      });
    child.once('error', reject);
    child.once('close', (code) => {
      console.log(said);
      if (code === 0) return resolve(said);
      reject(new Error(`The blocks ended with ${code}: ${said.trim().slice(-600)}`));
    });
  });
}

/** This process trusts the authority of the namespace's ingress from then on. */
export async function trustIngress({ get }: Kube): Promise<void> {
  const { data } = await get<{ data: Record<string, string> }>('secret', 'course-exchange-ingress-tls');
  const authority = Buffer.from(data['ca.crt'] ?? '', 'base64').toString('utf8');
  setDefaultCACertificates([...getCACertificates('default'), authority]);
}
