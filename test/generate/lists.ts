// Lists that pages show of the repository itself: decisions, suites, the files of a local stack, measured capacities.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { portNames, type StackPlan } from '../../deploy/local/plan.ts';
import { openRunDirectory } from '../../deploy/local/run-directory.ts';
import { describeStack } from '../../deploy/local/stack-file.ts';
import { root } from '../check/step.ts';
import { suites } from '../suites.ts';
import { code, type Part, tableWithProse } from './page.ts';

const decisions = join(root, 'docs/decisions');

export const decisionsPart: Part = () =>
  readdirSync(decisions)
    .flatMap((file) => {
      const headings = readFileSync(join(decisions, file), 'utf8').matchAll(
        /^##? (?:<a id="\d+"><\/a>)?(\d{4}) (.+)$/gm,
      );
      return [...headings].map(([, number, title]) => ({
        number: Number(number),
        title,
        link: `${file}#${number}`,
      }));
    })
    .toSorted((one, other) => one.number - other.number)
    .map(({ link, title }) => `- [${link.split('#')[1]} ${title}](${link})`)
    .join('\n');

export const suitesPart: Part = (before) =>
  tableWithProse(
    before,
    ['suite', 'what it proves', 'needs'],
    Object.keys(suites).map((name) => [code(name)]),
  );

export const runFilesPart: Part = (before) => {
  const path = mkdtempSync(join(tmpdir(), 'course-exchange-generate-'));
  try {
    const { stackFile, logs, data, sockets, portsFile, processesFile, controlTokenFile } =
      openRunDirectory(path);
    const files = [
      stackFile,
      `${logs}/`,
      `${data}/`,
      `${sockets}/`,
      portsFile,
      processesFile,
      controlTokenFile,
    ];
    const rows = files.map((file) => [code(`${basename(file)}${file.endsWith('/') ? '/' : ''}`)]);
    return tableWithProse(before, ['file in `.run/`', 'what it is'], rows);
  } finally {
    rmSync(path, { recursive: true });
  }
};

export const stackFieldsPart: Part = (before) => {
  const ports = Object.fromEntries([...portNames, 'gateway'].map((name) => [name, 1]));
  const secrets = { postgresSuperuser: '', redis: '' };
  const plan = {
    run: { logs: '', sockets: '' },
    ports,
    secrets,
    issuer: '',
    demoPartnerUrl: '',
  } as unknown as StackPlan;
  const fields = Object.keys(describeStack(plan, { partners: [], users: [] }, []));
  return tableWithProse(
    before,
    ['field of `stack.json`', 'what it is'],
    fields.map((field) => [code(field)]),
  );
};

/** Lines of an operation, `| refresh | 64 | 974 (955–1,181) | …`; the last one is that of the most at a time. */
const measuredOperation = /^\| ([^|]+) \| \d+ \| ([\d,]+) \(/gm;
const hashing = /Verifying a password .* takes ([\d.]+) ms of CPU/;

export function capacityPart(before: string): string {
  const page = readFileSync(join(root, 'docs/performance.md'), 'utf8');
  const microseconds = new Map<string, number>();
  for (const [, operation = '', cost = ''] of page.matchAll(measuredOperation))
    microseconds.set(operation, Number(cost.replaceAll(',', '')));
  const [, login] = hashing.exec(page) ?? [];
  if (login === undefined)
    throw new Error('docs/performance.md does not say what verifying a password takes');
  microseconds.set('login: hashing the password alone', Number(login) * 1_000);
  const rows = [...microseconds].map(([operation, cost]) => [operation, inASecond(cost)]);
  return tableWithProse(before, ['operation', 'in a second and core', 'pods'], rows);
}

/** Two digits say what a measurement can say. */
function inASecond(microseconds: number): string {
  return Number((1_000_000 / microseconds).toPrecision(2)).toLocaleString('en');
}
