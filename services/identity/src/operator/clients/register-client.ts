// A new client: an inactive draft, by choice with its first secret.

import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Queries } from '@course-exchange/runtime/postgres';
import { fieldChanges } from '../../domain/change.ts';
import type { ClientState } from '../../domain/client-approval.ts';
import { type Dossier, dossierMistakes } from '../../domain/dossier.ts';
import { insertClient, type RegisteredClient } from '../../store/postgres/registered-clients.ts';
import { carryOut, type Desk, type Note, type Order, type Outcome, requireNoMistake } from '../desk.ts';
import { expiryMistakes, issueSecret, type PlainSecret } from '../secrets/add-secret.ts';
import { clientFields } from './client-fields.ts';
import { type ClientView, viewClient } from './client-view.ts';

export interface Registration {
  readonly dossier: Dossier;
  /** Undefined: no secret. Milliseconds; null: it does not expire. */
  readonly firstSecret: { readonly expiresIn: number | null } | undefined;
}

/** The client, and the secret, which leaves here once. Throws `invalid_argument`, `already_exists`. Atomic. */
export async function registerClient(
  desk: Desk,
  order: Order,
  { dossier, firstSecret }: Registration,
): Promise<Outcome<{ readonly client: ClientView; readonly secret: PlainSecret | undefined }>> {
  requireNoMistake([
    ...dossierMistakes(dossier, desk.environment),
    ...(firstSecret ? expiryMistakes(firstSecret.expiresIn) : []),
  ]);
  return carryOut(desk, order, async (queries, note) => {
    const client = await insertDraft(desk, queries, note, dossier);
    const { clientId } = dossier;
    const secret = firstSecret && (await issueSecret(desk, queries, note, clientId, firstSecret.expiresIn));
    const shown = order.dryRun ? undefined : secret;
    return { client: await viewClient(queries, client, desk.now()), secret: shown };
  });
}

/** Throws `already_exists`. */
export async function insertDraft(
  desk: Desk,
  queries: Queries,
  note: Note,
  dossier: Dossier,
): Promise<RegisteredClient> {
  const draft: ClientState = { dossier, active: false, approvalState: 'draft' };
  const client = await insertClient(queries, desk.environment, draft);
  const { clientId } = dossier;
  if (client === undefined)
    throw new DetailedFailure('already_exists', `There is a client ${clientId} already.`);
  const fields = fieldChanges({}, clientFields(desk, draft));
  note({ action: 'client.register', object: `client:${clientId}`, clientId, fields });
  return client;
}
