// Opens the transaction that a form or a page names, and tells the owner's from foreign and expired ones (R6).
import { Failure } from '@course-exchange/runtime/failure';
import { errorLocation } from '../domain/authorization-answer.ts';
import type { Binding } from '../domain/binding.ts';
import { type Interaction, isExpired, isOwnForm, isRepeatable } from '../domain/interaction.ts';
import { isRegistered } from '../domain/redirect-uri.ts';
import type { Client } from '../store/postgres/clients.ts';
import type { HeldInteraction } from '../store/redis/interactions.ts';
import type { AuthorizationDependencies } from './dependencies.ts';

/** A transaction as the browser presents it; empty strings for what it does not have. */
export interface PresentedForm {
  readonly interactionId: string;
  readonly binding: string;
  readonly formToken: string;
  /** Value of the session cookie. */
  readonly browserSession: string;
}

/** The owner's form of a transaction that is open, or was decided within the last 10 s. */
export interface OwnForm {
  readonly kind: 'own';
  readonly held: HeldInteraction;
  readonly binding: Binding;
  readonly client: Client;
}

/** A form that changes nothing: of another browser, expired, or decided long ago. */
export type DeadForm = { readonly kind: 'foreign'; readonly location: string } | { readonly kind: 'expired' };

/**
 * Opens the transaction of a submitted form. A dead form whose transaction is still kept goes back to the
 * partner with `invalid_request`. Throws `invalid_client` or `invalid_redirect_uri` when the client may no
 * longer be answered.
 */
export async function openForm(
  deps: Pick<AuthorizationDependencies, 'findInteraction' | 'findClient' | 'now'>,
  form: PresentedForm,
): Promise<OwnForm | DeadForm> {
  const held = await deps.findInteraction(form.interactionId);
  if (held === undefined) return { kind: 'expired' };
  const { interaction } = held;
  const client = await findAnswerableClient(deps, interaction);
  const { binding, formToken } = form;
  if (isOpen(interaction, deps.now()) && isOwnForm(interaction, binding, formToken))
    return { kind: 'own', held, binding, client };
  return { kind: 'foreign', location: errorLocation(interaction.request, 'invalid_request') };
}

/** Whether forms of the transaction still do something: undecided and valid, or decided a moment ago. */
export function isOpen(interaction: Interaction, now: number): boolean {
  const { decision } = interaction;
  return decision === undefined ? !isExpired(interaction, now) : isRepeatable(decision, now);
}

/**
 * The client of a transaction. Throws `invalid_client` when it was deactivated since and
 * `invalid_redirect_uri` when the redirect URI was taken from it: both leave no address to answer to (R1, R6).
 */
export async function findAnswerableClient(
  { findClient }: Pick<AuthorizationDependencies, 'findClient'>,
  { request }: Interaction,
): Promise<Client> {
  const client = await findClient(request.clientId);
  if (!client?.active) throw new Failure('invalid_client', 'client deactivated during the transaction');
  if (!isRegistered(request.redirectUri, client.redirectUris)) throw new Failure('invalid_redirect_uri');
  return client;
}
