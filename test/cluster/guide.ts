// Runs what docs/install.md tells an operator to run: its blocks, and the script that prepares a namespace.
import { dirname } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { root } from '../check/step.ts';
import { section, shellBlocks } from '../docs/documents.ts';
import { startProcess } from '../support/process.ts';
import { helmProgram, type Kube, kubectlProgram } from './kube.ts';

export const blocksOf = (heading: string) => shellBlocks(section('docs/install.md', heading));

export async function runBlocks(
  blocks: readonly string[],
  variables: Readonly<Record<string, string>>,
  directory = root,
): Promise<string> {
  const folders = [kubectlProgram, helmProgram].filter((program) => program.includes('/')).map(dirname);
  const env = { ...process.env, ...variables, PATH: [...folders, process.env.PATH].join(':') };
  const words = ['-euo', 'pipefail', '-c', ['exec 2>&1', ...blocks].join('\n')];
  const { exit, out } = await startProcess('bash', words, env, undefined, directory).ended;
  console.log(out);
  if (exit !== 0) throw new Error(`The blocks ended with ${exit}: ${out.trim().slice(-600)}`);
  return out;
}

/** This process trusts the authority of the namespace's ingress from then on. */
export async function trustIngress({ kubectl }: Kube): Promise<void> {
  const template = '--output=go-template={{index .data "ca.crt" | base64decode}}';
  const authority = await kubectl('get', 'secret', 'course-exchange-ingress-tls', template);
  setDefaultCACertificates([...getCACertificates('default'), authority]);
}
