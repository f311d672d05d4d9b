// `client plan`, `apply` and `export`: an installation's clients as a file in version control.
import { resolve } from 'node:path';
import { ClientService, PlannedAction, type PlannedClient } from '@course-exchange/proto/operator/v1/client';
import { type CommandContext, newCommand, withAction } from '../cli/command.ts';
import { noteOption } from '../cli/options.ts';
import { readTextFile, replaceFile, requireWritable } from '../files/named-files.ts';
import { changesText, type Result } from '../output/result.ts';
import { sanitize } from '../output/terminal.ts';
import { readDeclarations, writeDeclarations } from './registration-file.ts';

function newFileCommand(...command: Parameters<typeof newCommand>) {
  return newCommand(...command)
    .argument('<file>', 'YAML with a list `clients`; - reads standard input')
    .option(
      '--deactivate-undeclared',
      'Deactivate clients that the file does not declare; nothing is ever deleted',
    )
    .addOption(noteOption);
}

type DeclaredOptions = ReturnType<ReturnType<typeof newFileCommand>['opts']>;

export function planCommand() {
  const command = newFileCommand('plan', {
    about: 'Show what `apply` would change',
    examples: {
      'What would change': 'partnerctl client plan clients.yaml',
      'Has anybody changed something by hand?': 'partnerctl client plan clients.yaml --check',
    },
  }).option('--check', 'Exit code 1 when something would change');
  return withAction(command, async (context, file, { check, ...options }) => {
    const set = await declaredSet(context, file, options);
    const { clients } = await context.services.identity(ClientService).planClients(set);
    const result = planResult(clients, true);
    return check && clients.some(isChanged) ? { ...result, exit: 'refused' as const } : result;
  });
}

export function applyCommand() {
  const command = newFileCommand('apply', {
    about: 'Make the installation match a file: all of it or nothing',
    details:
      'Shows the plan and asks. Applying the same file again changes nothing. New clients get no secret: use `client secret add`. It moves no client to approved in production: use `client approve --volume-confirmed` first. There, what adds redirect URIs or scopes to an approved client approves the result, and needs --note.',
    examples: {
      'Plan, confirm, apply': 'partnerctl client apply clients.yaml',
      'From continuous delivery': 'partnerctl client apply clients.yaml --yes',
    },
    takes: ['--dry-run', '--yes'],
  });
  return withAction(command, async (context, file, options) => {
    const { services, dryRun, confirm } = context;
    const set = await declaredSet(context, file, options);
    const { clients: planned } = await services.identity(ClientService).planClients(set);
    const due = planned.filter(isChanged);
    if (dryRun || due.length === 0) return planResult(planned, dryRun);
    await confirm(`${due.length} of ${planned.length} clients will change.`, planText(planned, true));
    const expectedVersions = planned.map(({ clientId, version }) => ({ clientId, version }));
    const applied = await services.identity(ClientService).applyClients({ ...set, expectedVersions });
    return planResult(applied.clients, false);
  });
}

export function exportCommand() {
  const command = newCommand('export', {
    about: 'Write every client as YAML for `apply`, without secrets',
    examples: {
      'Start to keep clients in version control': 'partnerctl client export --out clients.yaml',
    },
  }).option('--out <file>', 'Replace this file, mode 0600, instead of writing to standard output');
  return withAction(command, async ({ services, directory }, { out }) => {
    const path = out === undefined ? undefined : resolve(directory, out);
    if (path !== undefined) requireWritable(path);
    const { clients } = await services.identity(ClientService).exportClients({});
    const yaml = writeDeclarations(clients);
    if (path !== undefined) replaceFile(path, yaml);
    return {
      json: { file: out, clients },
      text: out === undefined ? yaml : `${clients.length} clients are in ${sanitize(out)}.\n`,
    };
  });
}

async function declaredSet(
  context: CommandContext,
  file: string,
  { deactivateUndeclared, note = '' }: DeclaredOptions,
) {
  const clients = readDeclarations(file, await readTextFile(context, file));
  return { clients: [...clients], deactivateUndeclared: deactivateUndeclared === true, note };
}

function isChanged({ action }: PlannedClient): boolean {
  return action !== PlannedAction.UNCHANGED && action !== PlannedAction.UNDECLARED;
}

function planResult(clients: readonly PlannedClient[], dryRun: boolean): Result {
  return { json: { dryRun, clients }, text: planText(clients, dryRun) };
}

function planText(planned: readonly PlannedClient[], dryRun: boolean): string {
  const changed = planned.filter(isChanged).map((client) => changesText(client.changes, dryRun));
  const same = planned.filter(({ action }) => action === PlannedAction.UNCHANGED).length;
  const others = planned.filter(({ action }) => action === PlannedAction.UNDECLARED);
  const undeclared = others.map(({ clientId }) => `${clientId} is not declared and stays as it is.\n`);
  const count = `${changed.length} ${dryRun ? 'to change' : 'changed'}, ${same} unchanged.\n`;
  return [...changed, ...undeclared, count].join('');
}
