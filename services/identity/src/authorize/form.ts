// A submitted form: effective only in the browser that started the interaction (R6.6), and until the decision.
import type { Client } from '../clients/client.ts';
import { findClient } from '../clients/client-table.ts';
import { findConsent } from '../consents/consent-table.ts';
import { authorizationRefusal } from '../refusals/reasons.ts';
import { completeDecision, reportDecision } from './finish.ts';
import {
  answers,
  type Event,
  type Interaction,
  type InteractionCookie,
  interactionValidMs,
  isAboutAccount,
  isExpired,
  isOwnForm,
  isRepeatable,
  type Page,
  pageOf,
  type Subject,
} from './interaction.ts';
import { findInteraction, type StoredInteraction, transition } from './interaction-store.ts';
import { requireAnswerable } from './request.ts';
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

/** It had no effect: another browser's, not open, or about another decision. `expired`: unknown. */
export type RejectedForm = PartnerRedirect<false> | { readonly kind: 'expired' };

export type FormResult = { readonly kind: 'next'; readonly page: Page } | PartnerRedirect | RejectedForm;

export async function openForm(deps: StepDeps, form: PresentedForm): Promise<OwnedForm | RejectedForm> {
  const open = await findOpen(deps, form);
  if (open.kind !== 'open') return open;
  const { stored, client } = open;
  const { interactionCookie, formToken } = form;
  if (!isOwnForm(stored.interaction, interactionCookie, formToken))
    return rejectForm(deps, stored.interaction, 'form_of_another_browser');
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
    return rejectForm(deps, stored.interaction, 'form_came_too_late');
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
  if (stored === 'closed') return undefined;
  if (stored || sealedInteraction === '') return stored;
  const interaction = await seal.open(sealedInteraction);
  if (interaction?.id !== interactionId || now() >= interaction.createdAt + sealReadMs) return undefined;
  return { kind: 'sealed', interaction, sealed: sealedInteraction };
}

export function rejectForm(
  deps: Pick<StepDeps, 'observe'>,
  { request, subject }: Interaction,
  reason: RedirectReason,
): RejectedForm {
  return { ...refuseByRedirect(deps, request, reason, subject?.sub), effective: false };
}

export function isOpen(interaction: Interaction, now: number): boolean {
  const { decision } = interaction;
  return decision === undefined ? !isExpired(interaction, now) : isRepeatable(decision, now);
}

/** Throws when it is inactive or lost the redirect URI (R1.3, R1.4, R6.5). */
export async function findAnswerableClient(deps: StepDeps, { request }: Interaction): Promise<Client> {
  const client = await findClient(deps.database, request.clientId);
  return refuseDirectly(deps, client?.clientId, () => {
    if (!client) throw authorizationRefusal('unknown_client');
    requireAnswerable(client, request.redirectUri);
    return client;
  });
}

/** What decides whether anything is left to ask of the subject. */
export async function askedOf(deps: StepDeps, { client }: OwnedForm, subject: Subject) {
  const consent = await findConsent(deps.database, subject.sub, client.clientId);
  return { subject, consent, approved: client.scopes, at: deps.now() };
}

/** The subject that the form showed, while it is signed in or when all is decided; else the page to show instead. */
export async function findAgreeing(
  deps: StepDeps,
  own: OwnedForm,
  { formToken, browserSession }: PresentedForm,
): Promise<
  { readonly kind: 'agreeing'; readonly subject: Subject } | { readonly kind: 'next'; readonly page: Page }
> {
  const { interaction } = own.stored;
  const { subject, decision } = interaction;
  if (subject === undefined || !isAboutAccount(formToken, own.interactionCookie, subject.sub))
    return currentPage(deps, own, browserSession);
  const isAgreeing =
    decision !== undefined || (await findSubject(deps, interaction, browserSession)) !== undefined;
  return isAgreeing ? { kind: 'agreeing', subject } : { kind: 'next', page: 'login' };
}

/** The next page, or the redirect of the decision if it answers the event. A decided interaction is not changed. */
export async function apply(deps: StepDeps, own: OwnedForm, event: Event): Promise<FormResult> {
  const { stored, isOurs } = await transition(deps.redis, own.stored, event, deps.now());
  if (stored && isOurs) reportDecision(deps, stored.interaction);
  return resultOf(deps, own, stored, event);
}

async function resultOf(
  deps: StepDeps,
  { interactionCookie }: OwnedForm,
  stored: StoredInteraction | undefined,
  event: Event,
): Promise<FormResult> {
  if (stored === undefined) return { kind: 'expired' };
  const { decision } = stored.interaction;
  if (decision === undefined) return { kind: 'next', page: pageOf(stored.interaction) };
  if (!answers(decision, event)) return rejectForm(deps, stored.interaction, 'decided_otherwise_before');
  return completeDecision(deps, stored, decision, interactionCookie);
}

export async function currentPage(
  deps: StepDeps,
  { stored: { interaction } }: OwnedForm,
  browserSession: string,
): Promise<{ readonly kind: 'next'; readonly page: Page }> {
  const user = await findSubject(deps, interaction, browserSession);
  return { kind: 'next', page: user === undefined ? 'login' : pageOf(interaction) };
}
