// `client plan`, `apply` and `export`: the clients of an installation as files in version control.
import { resolve } from 'node:path';
import {
  ClientService,
  type DeclaredClient,
  DeclaredClientSchema,
  PlannedAction,
  type PlannedClient,
  PlannedClientSchema,
} from '@course-exchange/proto/operator/v1/client';
import { readDeclarations } from '../../dossier/declarations.ts';
import { writeDeclarations } from '../../dossier/written-declarations.ts';
import type { Call } from '../../frame/call.ts';
import { type Answer, command } from '../../frame/command.ts';
import { file, toggle } from '../../frame/options.ts';
import { changesText } from '../../output/changes.ts';
import { plain } from '../../output/plain.ts';
import { readNamed, replaceFile, requirePlace } from '../files.ts';

const declaration = {
  file: { term: '<file>', about: 'YAML with a list `clients`; - reads standard input' },
} as const;
const deactivateUndeclared = toggle(
  'Deactivate clients that the file does not declare; nothing is ever deleted',
);

export const clientPlan = command({
  name: 'plan',
  about: 'Show what `apply` would change',
  operands: declaration,
  options: { deactivateUndeclared, check: toggle('End with exit code 1 when something would change') },
  examples: [
    { does: 'What would change', line: 'partnerctl client plan clients.yaml' },
    { does: 'Has anybody changed something by hand?', line: 'partnerctl client plan clients.yaml --check' },
  ],
  run: async (call, { file: name }, options) => {
    const clients = [...(await declared(call, name))];
    const plan = await call.services
      .identity(ClientService)
      .planClients({ clients, deactivateUndeclared: options.deactivateUndeclared });
    const answer = planAnswer(call, plan.clients, true);
    return options.check && plan.clients.some(changes) ? { ...answer, exit: 'refused' } : answer;
  },
});

export const clientApply = command({
  name: 'apply',
  about: 'Make the installation equal to a file: all of it or nothing',
  details:
    'Shows the plan and asks. Applying the same file again changes nothing. New clients get no secret: `client secret add`.',
  operands: declaration,
  options: { deactivateUndeclared },
  writes: true,
  asks: true,
  examples: [
    { does: 'Plan, question, apply', line: 'partnerctl client apply clients.yaml' },
    { does: 'From continuous delivery', line: 'partnerctl client apply clients.yaml --yes' },
  ],
  run: async (call, { file: name }, options) => {
    const service = call.services.identity(ClientService);
    const set = { clients: [...(await declared(call, name))], ...options };
    const { clients: planned } = await service.planClients(set);
    const due = planned.filter(changes);
    if (call.dryRun || due.length === 0) return planAnswer(call, planned, call.dryRun);
    await call.confirm(
      `${due.length} of ${planned.length} clients will change.`,
      planText(call, planned, true),
    );
    const expectedVersions = planned.map(({ clientId, version }) => ({ clientId, version }));
    const applied = await service.applyClients({ ...set, expectedVersions });
    return planAnswer(call, applied.clients, false);
  },
});

export const clientExport = command({
  name: 'export',
  about: 'Write every client as YAML for `apply`; no secret is in it',
  operands: {},
  options: { out: file('Replace this file, mode 0600, instead of writing to standard output') },
  examples: [
    { does: 'Begin to keep clients in version control', line: 'partnerctl client export --out clients.yaml' },
  ],
  run: async (call, _, { out }) => {
    const path = out === undefined ? undefined : resolve(call.directory, out);
    if (path !== undefined) requirePlace(path);
    const { clients } = await call.services.identity(ClientService).exportClients({});
    const yaml = writeDeclarations(clients);
    if (path !== undefined) replaceFile(path, yaml);
    return {
      json: { file: out ?? null, clients: clients.map((client) => plain(DeclaredClientSchema, client)) },
      text: out === undefined ? yaml : `${clients.length} clients are in ${out}.\n`,
    };
  },
});

async function declared(call: Call, name: string): Promise<readonly DeclaredClient[]> {
  return readDeclarations(name, await readNamed(name, call));
}

function changes({ action }: PlannedClient): boolean {
  return action !== PlannedAction.UNCHANGED && action !== PlannedAction.UNDECLARED;
}

function planAnswer(call: Call, planned: readonly PlannedClient[], dryRun: boolean): Answer {
  const json = { dryRun, clients: planned.map((client) => plain(PlannedClientSchema, client)) };
  return { json, text: planText(call, planned, dryRun) };
}

function planText(call: Call, planned: readonly PlannedClient[], dryRun: boolean): string {
  const { paint } = call.terminal;
  const done = planned.filter(changes).map((client) => changesText(client.changes, dryRun, paint));
  const same = planned.filter(({ action }) => action === PlannedAction.UNCHANGED).length;
  const others = planned.filter(({ action }) => action === PlannedAction.UNDECLARED);
  const undeclared = others.map(({ clientId }) => `${clientId} is not declared and stays as it is.\n`);
  const count = `${done.length} ${dryRun ? 'to change' : 'changed'}, ${same} as declared.\n`;
  return [...done, ...undeclared, count].join('');
}
