// An approval is of a version of the client: the one that the operator has seen, or the one that an edit makes which adds
// redirect URIs or scopes to a client approved for production.
import {
  type AdminAction,
  type AdminTransaction,
  type Fields,
  fieldChanges,
  refused,
  requireNoProblem,
} from '../admin/context.ts';
import {
  type ChangeContext,
  changeClient,
  type VersionedClient,
  warnWithoutVersion,
  writeClient,
} from './change.ts';
import {
  type ApprovalState,
  approvalObstacles,
  approvedAdditions,
  isStepUp,
  type RegisteredClient,
  volumeWarnings,
  withApproval,
} from './client.ts';
import { type ClientRegistration, isShownText } from './client-registration.ts';
import { findLastEditor, recordApproval } from './client-table.ts';
import type { ClientView } from './view.ts';

interface ApprovalStep {
  readonly state: ApprovalState;
  readonly note: string;
  /** Confirmed to fit (specification §8), and kept in the audit log. */
  readonly confirmedVolume?: Fields | undefined;
  /** By the same transaction, whose entries the audit log does not have yet. */
  readonly isJustEdited?: boolean;
}

/** Throws `not_found`, `conflict`, and `refused` with the gaps of the registration. Atomic. */
export const setApproval: AdminAction<VersionedClient & ApprovalStep, ClientView, ChangeContext> = async (
  context,
  request,
  step,
) => {
  const { result, changes } = await changeClient(context, request, step, (transaction, before) => {
    if (isStepUp(before.approvalState, step.state)) warnWithoutVersion(context, request, step);
    return approve(transaction, before, step);
  });
  const warnings = [...result.warnings, ...volumeWarnings(step.confirmedVolume)];
  return { result: { ...result, warnings }, changes };
};

export async function approve(
  transaction: AdminTransaction<ChangeContext>,
  before: RegisteredClient,
  { state, note, confirmedVolume, isJustEdited }: ApprovalStep,
): Promise<RegisteredClient> {
  requireNote(note);
  const { clientId } = before.registration;
  const { environment, queries, actor } = transaction;
  const volumeConfirmed = confirmedVolume !== undefined;
  const obstacles = approvalObstacles(before, state, { environment, volumeConfirmed });
  if (obstacles.length > 0)
    throw refused(...obstacles.map((obstacle) => `Client ${clientId} cannot be ${state}: ${obstacle}`));
  if (transaction.approvalByAnother && isStepUp(before.approvalState, state)) {
    const editor = isJustEdited ? actor : await findLastEditor(queries, clientId);
    if (editor === actor)
      throw refused(`Client ${clientId} was last edited by ${actor}: another operator must approve it.`);
  }
  const after = withApproval(before, state, environment);
  const more = approvalFields(before, note, confirmedVolume);
  const written = await writeClient(transaction, 'client.approval', before, after, more);
  if (written.version !== before.version) await recordApproval(queries, clientId, state, actor, note);
  return written;
}

/** Throws `invalid_argument`, and `refused` when it adds to an approved client without a note. */
export async function editRegistration(
  transaction: AdminTransaction<ChangeContext>,
  before: RegisteredClient,
  registration: ClientRegistration,
  note: string,
): Promise<RegisteredClient> {
  requireNote(note);
  const { clientId } = registration;
  const { environment, actor, queries, recordChange } = transaction;
  const added = approvedAdditions(before, registration, environment);
  if (added.length > 0) requireApprover(transaction, clientId, added, note);
  const after = { ...before, registration };
  const written = await writeClient(transaction, 'client.edit', before, after, fieldChanges({}, { note }));
  if (added.length === 0) return written;
  const fields = approvalFields(before, note);
  recordChange({ action: 'client.approval', object: `client:${clientId}`, clientId, fields });
  await recordApproval(queries, clientId, before.approvalState, actor, note);
  return written;
}

/** Who edits approves the result. */
function requireApprover(
  { approvalByAnother }: ChangeContext,
  clientId: string,
  added: readonly string[],
  note: string,
): void {
  const named = added.slice(0, 3).map((one) => one.slice(0, 200));
  if (added.length > 3) named.push(`${added.length - 3} more`);
  const adds = `Client ${clientId} is approved, and the edit adds ${named.join(', ')}`;
  if (approvalByAnother)
    throw refused(
      `${adds}: another operator must approve that. Move the client to the state test, where it is inactive, edit it, and let another operator approve and activate it.`,
    );
  if (note.trim() === '')
    throw refused(`${adds}: that approves the result, and needs the reason. Give it with --note.`);
}

/** From which version to which, why, and on which figures. */
function approvalFields({ version }: RegisteredClient, note: string, confirmedVolume?: Fields) {
  return fieldChanges({ version }, { version: version + 1, note, confirmed_volume: confirmedVolume });
}

const longestNote = 500;

function requireNote(note: string): void {
  requireNoProblem(note.length > longestNote ? [`The note is longer than ${longestNote} characters.`] : []);
  requireNoProblem(isShownText(note) ? [] : ['The note: a character cannot be shown.']);
}
