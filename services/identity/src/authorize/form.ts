// A submitted form: effective only in the browser that started the interaction (R6.6), and until the decision.
import type { Client } from '../clients/client.ts';
import { findClient } from '../clients/client-table.ts';
import { isWithin } from '../clients/scope.ts';
import { findConsent } from '../consents/consent-table.ts';
import { Refusal } from '../refusals/reasons.ts';
import { completeDecision, reportDecision } from './finish.ts';
import {
  type Decision,
  decided,
  type Interaction,
  type InteractionCookie,
  interactionValidMs,
  isAboutAccount,
  isExpired,
  isOwnForm,
  isRepeatable,
  nextStep,
  type Page,
  pageOf,
  type Subject,
} from './interaction.ts';
import { changeUndecided, findInteraction, type StoredInteraction } from './interaction-store.ts';
import { isHinted, requireAnswerable } from './request.ts';
import { type PartnerRedirect, type RedirectReason, refuseByRedirect, refuseDirectly } from './response.ts';
import { findSubject, type StepDeps } from './signed-in-user.ts';

export interface PresentedForm {
  readonly interactionId: string;
  readonly sealedInteraction: string;
  readonly interactionCookie: string;
  readonly formToken: string;
  readonly browserSession: string;
}

export interface OwnedForm {
  readonly kind: 'owned';
  readonly stored: StoredInteraction;
  readonly interactionCookie: InteractionCookie;
  readonly client: Client;
}

/** `not_owner`: another browser's, or not open; returns to the partner. `expired`: unknown. */
export type RejectedForm =
  | (Omit<PartnerRedirect, 'kind'> & { readonly kind: 'not_owner' })
  | { readonly kind: 'expired' };

export type FormResult = { readonly kind: 'next'; readonly page: Page } | PartnerRedirect | RejectedForm;

export async function openForm(deps: StepDeps, form: PresentedForm): Promise<OwnedForm | RejectedForm> {
  const open = await findOpen(deps, form);
  if (open.kind !== 'open') return open;
  const { stored, client } = open;
  const { interactionCookie, formToken } = form;
  if (!isOwnForm(stored.interaction, interactionCookie, formToken))
    return rejectForm(deps, stored.interaction, 'form of another browser');
  return { kind: 'owned', stored, interactionCookie, client };
}

/** Whosever it is. */
export async function findOpen(
  deps: StepDeps,
  form: PresentedForm,
): Promise<(Pick<OwnedForm, 'stored' | 'client'> & { readonly kind: 'open' }) | RejectedForm> {
  const stored = await findPresented(deps, form);
  if (stored === undefined) return { kind: 'expired' };
  const client = await findAnswerableClient(deps, stored.interaction);
  if (!isOpen(stored.interaction, deps.now()))
    return rejectForm(deps, stored.interaction, 'form came too late');
  return { kind: 'open', stored, client };
}

/** An expired seal leads back to the partner in this time (R6.3). */
const sealReadMs = interactionValidMs + 60 * 60 * 1000;

/** A stored interaction precedes a sealed one, so that a seal counts once. */
export async function findPresented(
  { redis, seal, now }: StepDeps,
  { interactionId, sealedInteraction }: PresentedForm,
): Promise<StoredInteraction | undefined> {
  const stored = await findInteraction(redis, interactionId);
  if (stored || sealedInteraction === '') return stored;
  const interaction = await seal.open(sealedInteraction);
  if (interaction?.id !== interactionId || now() >= interaction.createdAt + sealReadMs) return undefined;
  return { interaction, sealed: sealedInteraction };
}

export function rejectForm(
  deps: Pick<StepDeps, 'onAuthorizationRefused'>,
  { request, subject }: Interaction,
  reason: RedirectReason,
): RejectedForm {
  return { ...refuseByRedirect(deps, request, reason, subject?.sub), kind: 'not_owner' };
}

export function isOpen(interaction: Interaction, now: number): boolean {
  const { decision } = interaction;
  return decision === undefined ? !isExpired(interaction, now) : isRepeatable(decision, now);
}

/** Throws when it is inactive or lost the redirect URI (R1.3, R1.4, R6.5). */
export async function findAnswerableClient(deps: StepDeps, { request }: Interaction): Promise<Client> {
  const client = await findClient(deps.database, request.clientId);
  return refuseDirectly(deps, client?.clientId, () => {
    if (!client) throw new Refusal('unknown client');
    requireAnswerable(client, request.redirectUri);
    return client;
  });
}

/**
 * Applies `change`, then decides if nothing needs asking: all is granted (R6.2), a scope was lost (R6.5) or another
 * user hinted at (R5.19). A login as another user in another tab leads to that user's page.
 */
export async function advance(
  deps: StepDeps,
  own: OwnedForm,
  subject: Subject,
  change: (interaction: Interaction) => Interaction,
): Promise<FormResult> {
  const consent = await findConsent(deps.database, subject.sub, own.client.clientId);
  const now = deps.now();
  return applyChange(deps, own, agreementAs(subject), (interaction) => {
    const changed = change(interaction);
    if (!isAbout(changed, subject)) return changed;
    if (!isHinted(changed.request, subject.sub))
      return decided(changed, { kind: 'refused', error: 'login_required' }, now);
    if (!isWithin(changed.request.scopes, own.client.scopes))
      return decided(changed, { kind: 'refused', error: 'invalid_scope' }, now);
    if (!consent || nextStep(changed, consent.scopes) !== 'complete') return changed;
    return decided(changed, { kind: 'allowed', subject, consentId: consent.consentId }, now);
  });
}

/** If the account that the form showed is still signed in and the interaction undecided. */
export async function agree(
  deps: StepDeps,
  own: OwnedForm,
  { formToken, browserSession }: PresentedForm,
  apply: (subject: Subject) => Promise<FormResult>,
): Promise<FormResult> {
  const { interaction } = own.stored;
  const { subject, decision } = interaction;
  if (subject === undefined || !isAboutAccount(formToken, own.interactionCookie, subject.sub))
    return currentPage(deps, own, browserSession);
  if (decision) return resolve(deps, own, own.stored, agreementAs(subject));
  const user = await findSubject(deps, interaction, browserSession);
  return user === undefined ? { kind: 'next', page: 'login' } : apply(subject);
}

export function isAbout({ subject }: Interaction, { sub }: Subject): boolean {
  return subject?.sub === sub;
}

/** That user's code, or a refusal that the user did not ask for. */
export function agreementAs({ sub }: Subject): (decision: Decision) => boolean {
  return (decision) =>
    decision.kind === 'refused' ? decision.error !== 'access_denied' : decision.subject.sub === sub;
}

/** Returns the next page, or the redirect of a decision if `isOwn`; a decided interaction is not changed. */
export async function applyChange(
  deps: StepDeps,
  own: OwnedForm,
  isOwn: (decision: Decision) => boolean,
  change: (interaction: Interaction) => Interaction,
): Promise<FormResult> {
  const proposed = new Set<Interaction>();
  const propose = (interaction: Interaction) => {
    const changed = change(interaction);
    proposed.add(changed);
    return changed;
  };
  const stored = await changeUndecided(deps.redis, own.stored, propose, deps.now());
  if (stored && proposed.has(stored.interaction)) reportDecision(deps, stored.interaction);
  return resolve(deps, own, stored, isOwn);
}

async function resolve(
  deps: StepDeps,
  { interactionCookie }: OwnedForm,
  stored: StoredInteraction | undefined,
  isOwn: (decision: Decision) => boolean,
): Promise<FormResult> {
  if (stored === undefined) return { kind: 'expired' };
  const { decision } = stored.interaction;
  if (decision === undefined) return { kind: 'next', page: pageOf(stored.interaction) };
  if (!isOwn(decision)) return rejectForm(deps, stored.interaction, 'decided otherwise before');
  return completeDecision(deps, stored, decision, interactionCookie);
}

export async function currentPage(
  deps: StepDeps,
  { stored: { interaction } }: OwnedForm,
  browserSession: string,
): Promise<FormResult> {
  const user = await findSubject(deps, interaction, browserSession);
  return { kind: 'next', page: user === undefined ? 'login' : pageOf(interaction) };
}
