// Makes the installation equal to a declared set of clients, whole or not at all; a plan is the same work rolled
// back. A client that is not declared is left or deactivated, never deleted.
import type { Queries } from '@course-exchange/runtime/postgres';
import type { Change } from '../../domain/change.ts';
import { type ApprovalState, approvalPath } from '../../domain/client-approval.ts';
import { type Dossier, dossierMistakes } from '../../domain/dossier.ts';
import { type RegisteredClient, readClients } from '../../store/postgres/registered-clients.ts';
import { carryOut, conflict, type Desk, type Note, type Order, requireNoMistake } from '../desk.ts';
import { withActive } from './activation.ts';
import { compareVersion, writeClient } from './client-change.ts';
import { insertDraft } from './register-client.ts';
import { approveInSet } from './set-approval.ts';

export interface Declaration {
  readonly dossier: Dossier;
  /** Undefined: draft for a new client, else as it is. */
  readonly approvalState: ApprovalState | undefined;
  /** Undefined: inactive for a new client, else as it is. */
  readonly active: boolean | undefined;
}

export interface DeclaredSet {
  readonly declarations: readonly Declaration[];
  readonly deactivateUndeclared: boolean;
  /** Version by client id, 0 for a client that was not there; others are not compared. */
  readonly expectedVersions: ReadonlyMap<string, number>;
}

export interface PlannedClient {
  readonly clientId: string;
  readonly action: 'unchanged' | 'register' | 'change' | 'deactivate' | 'undeclared';
  /** Version before; 0 for a new client. */
  readonly version: number;
  readonly changes: readonly Change[];
}

interface Work {
  readonly queries: Queries;
  readonly note: Note;
  readonly actor: string;
}

/** By client id. Throws `invalid_argument`, `conflict`, `refused`. Atomic. */
export async function applyClients(
  desk: Desk,
  order: Order,
  set: DeclaredSet,
): Promise<readonly PlannedClient[]> {
  requireNoMistake(setMistakes(desk, set.declarations));
  const { result } = await carryOut(desk, order, async (queries, note) => {
    const present = new Map(
      (await readClients(queries, desk.environment, 'lock')).map((client) => [
        client.dossier.clientId,
        client,
      ]),
    );
    compareVersions(present, set.expectedVersions);
    const declared = new Map(set.declarations.map((one) => [one.dossier.clientId, one]));
    const planned: PlannedClient[] = [];
    for (const clientId of [...new Set([...present.keys(), ...declared.keys()])].sort()) {
      const changes: Change[] = [];
      const noteBoth: Note = (change) => {
        changes.push(change);
        note(change);
      };
      const work = { queries, note: noteBoth, actor: order.actor };
      const before = present.get(clientId);
      const declaration = declared.get(clientId);
      if (declaration) await applyOne(desk, work, before, declaration);
      else if (before && set.deactivateUndeclared) await deactivate(desk, work, before);
      planned.push({
        ...{ clientId, version: before?.version ?? 0, changes },
        action: actionOf({ before, declaration, changes }),
      });
    }
    return planned;
  });
  return result;
}

function actionOf(one: {
  readonly before: RegisteredClient | undefined;
  readonly declaration: Declaration | undefined;
  readonly changes: readonly Change[];
}): PlannedClient['action'] {
  if (one.before === undefined) return 'register';
  if (one.declaration) return one.changes.length > 0 ? 'change' : 'unchanged';
  return one.changes.length > 0 ? 'deactivate' : 'undeclared';
}

function setMistakes(desk: Desk, declarations: readonly Declaration[]): string[] {
  const ids = declarations.map(({ dossier }) => dossier.clientId);
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) < index));
  return [
    ...[...twice].map((id) => `Client ${id} is declared twice.`),
    ...declarations.flatMap(({ dossier }) =>
      dossierMistakes(dossier, desk.environment).map((mistake) => `Client ${dossier.clientId}: ${mistake}`),
    ),
  ];
}

function compareVersions(
  present: ReadonlyMap<string, RegisteredClient>,
  expected: ReadonlyMap<string, number>,
): void {
  for (const [clientId, version] of expected) {
    const client = present.get(clientId);
    if (client === undefined && version !== 0) throw conflict(`Client ${clientId} is gone.`);
    if (client && version === 0) throw conflict(`Client ${clientId} was registered meanwhile.`);
    if (client) compareVersion(client, version);
  }
}

async function applyOne(
  desk: Desk,
  work: Work,
  before: RegisteredClient | undefined,
  { dossier, approvalState, active }: Declaration,
): Promise<void> {
  const { queries, note } = work;
  let client =
    before === undefined
      ? await insertDraft(desk, queries, note, dossier)
      : await writeClient(desk, queries, note, {
          action: 'client.edit',
          before,
          after: { ...before, dossier },
        });
  if (active === false) client = await deactivate(desk, work, client);
  for (const state of approvalPath(client.approvalState, approvalState ?? client.approvalState))
    client = await approveInSet(desk, work, client, state);
  if (active !== true) return;
  const after = withActive(desk, client, true);
  await writeClient(desk, queries, note, { action: 'client.activate', before: client, after });
}

function deactivate(
  desk: Desk,
  { queries, note }: Work,
  before: RegisteredClient,
): Promise<RegisteredClient> {
  const after = { ...before, active: false };
  return writeClient(desk, queries, note, { action: 'client.deactivate', before, after });
}
