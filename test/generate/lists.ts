// Lists that pages show of the repository itself: decisions, suites, the files of a local stack.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { portNames, type StackPlan } from '../../deploy/local/plan.ts';
import { openRunDirectory } from '../../deploy/local/run-directory.ts';
import { describeStack } from '../../deploy/local/stack-file.ts';
import { root } from '../check/step.ts';
import { suites } from '../suites.ts';
import { names, type Part } from './page.ts';

const decisions = join(root, 'docs/decisions');

export const decisionsPart: Part = () =>
  readdirSync(decisions)
    .flatMap((file) => {
      const text = readFileSync(join(decisions, file), 'utf8');
      const headings = text.matchAll(/^##? (?:<a id="\d+"><\/a>)?(\d{4}) (.+)$/gm);
      return [...headings].map(([, number, title]) => `- [${number} ${title}](${file}#${number})`);
    })
    .sort()
    .join('\n');

export const suitesPart: Part = (before) =>
  names(before, ['suite', 'what it proves', 'needs'], Object.keys(suites));

export const runFilesPart: Part = (before) => {
  const path = mkdtempSync(join(tmpdir(), 'course-exchange-generate-'));
  try {
    const run = openRunDirectory(path);
    const folders = [run.logs, run.data, run.sockets].map((folder) => `${basename(folder)}/`);
    const files = [run.stackFile, run.portsFile, run.processesFile, run.controlTokenFile];
    const all = [...files.map((file) => basename(file)), ...folders];
    return names(before, ['file in `.run/`', 'what it is'], all);
  } finally {
    rmSync(path, { recursive: true });
  }
};

export const stackFieldsPart: Part = (before) => {
  const ports = Object.fromEntries([...portNames, 'gateway'].map((name) => [name, 1]));
  const secrets = { postgresSuperuser: '', redis: '' };
  const plan = { run: { logs: '', sockets: '' }, ports, secrets, issuer: '', demoPartnerUrl: '' };
  const stack = describeStack(plan as unknown as StackPlan, { partners: [], users: [] }, []);
  return names(before, ['field of `stack.json`', 'what it is'], Object.keys(stack));
};
