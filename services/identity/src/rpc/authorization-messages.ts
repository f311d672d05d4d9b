// The authorization steps' outcomes as messages, and messages as the steps read them.
import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type AccountViewSchema,
  AuthorizationParametersSchema,
  type ConsentViewSchema,
  type ExpiredInteractionSchema,
  type InteractionRef,
  InteractionRefSchema,
  type LoginAcceptedSchema,
  type LoginRedirectSchema,
  type LoginRejectedSchema,
  type LoginViewSchema,
  type NextPageSchema,
  type AuthorizationParameters as ParametersMessage,
  LoginRejected_Reason as Reason,
  type RedirectSchema,
  type StartedInteractionSchema,
} from '@course-exchange/proto/identity/v1/authorization';
import type { Beginning } from '../authorization/begin-authorization.ts';
import type { LoginPage, View } from '../authorization/get-interaction.ts';
import type { DeadForm, PresentedForm } from '../authorization/held-form.ts';
import type { Move } from '../authorization/move.ts';
import type { LoginOutcome, RejectedLogin } from '../authorization/submit-login.ts';
import type { AuthorizationParameters } from '../domain/authorization-parameters.ts';

/** One case of a oneof. */
type Case<Name extends string, Schema extends DescMessage> = { case: Name; value: MessageInitShape<Schema> };
type RedirectCase = Case<'redirect', typeof RedirectSchema>;
type ExpiredCase = Case<'expired', typeof ExpiredInteractionSchema>;
type DeadCase = Case<'foreign', typeof RedirectSchema> | ExpiredCase;
type LoginCase = Case<'login', typeof LoginViewSchema>;

// Both messages have the fields of the steps' own types, by the same names; protobuf's own are ignored.

/** A message without parameters is a request without parameters. */
export function readParameters(message: ParametersMessage | undefined): AuthorizationParameters {
  return message ?? create(AuthorizationParametersSchema);
}

export function readForm(message: InteractionRef | undefined): PresentedForm {
  return message ?? create(InteractionRefSchema);
}

export function toBeginning(
  beginning: Beginning,
): RedirectCase | Case<'interaction', typeof StartedInteractionSchema> {
  if (beginning.kind === 'redirect') return redirect(beginning.location);
  const { interactionId, binding, expiresInSeconds } = beginning;
  return { case: 'interaction', value: { interactionId, binding, expiresIn: expiresInSeconds } };
}

export function toView(
  view: View,
):
  | LoginCase
  | Case<'account', typeof AccountViewSchema>
  | Case<'consent', typeof ConsentViewSchema>
  | RedirectCase
  | ExpiredCase {
  switch (view.kind) {
    case 'login':
      return { case: 'login', value: loginView(view) };
    case 'account':
      return { case: 'account', value: { page: view.page, account: view.account } };
    case 'consent': {
      const { page, account, scopes, scopesGrantedBefore } = view;
      return {
        case: 'consent',
        value: { page, account, scopes: [...scopes], scopesGrantedBefore: [...scopesGrantedBefore] },
      };
    }
    case 'redirect':
      return redirect(view.location);
    case 'expired':
      return { case: 'expired', value: {} };
  }
}

export function toMove(move: Move): Case<'next', typeof NextPageSchema> | RedirectCase | DeadCase {
  return move.kind === 'next' ? { case: 'next', value: {} } : toDeadEnd(move);
}

/** A move that has no next page: a refusal ends the transaction in one step. */
export function toDeadEnd(move: Move): RedirectCase | DeadCase {
  if (move.kind === 'next') throw new Error('a transaction that ended has a next page');
  return move.kind === 'redirect' ? redirect(move.location) : deadForm(move);
}

export function toLoginOutcome(
  outcome: LoginOutcome,
):
  | Case<'accepted', typeof LoginAcceptedSchema>
  | Case<'redirect', typeof LoginRedirectSchema>
  | Case<'rejected', typeof LoginRejectedSchema>
  | DeadCase {
  switch (outcome.kind) {
    case 'accepted':
      return { case: 'accepted', value: { browserSession: outcome.browserSession } };
    case 'redirect': {
      const { location, browserSession } = outcome;
      return { case: 'redirect', value: { redirect: { location }, browserSession } };
    }
    case 'rejected':
      return { case: 'rejected', value: rejection(outcome) };
    default:
      return deadForm(outcome);
  }
}

const reasons: Readonly<Record<RejectedLogin['reason'], Reason>> = {
  credentials: Reason.CREDENTIALS,
  throttled: Reason.THROTTLED,
  incomplete: Reason.INCOMPLETE,
};

function rejection({
  reason,
  retryAfterSeconds,
  view,
}: RejectedLogin): MessageInitShape<typeof LoginRejectedSchema> {
  return { reason: reasons[reason], retryAfterSeconds, view: loginView(view) };
}

function loginView({ page, email, account }: LoginPage): MessageInitShape<typeof LoginViewSchema> {
  return { page, email, ...(account && { account }) };
}

function redirect(location: string): RedirectCase {
  return { case: 'redirect', value: { location } };
}

function deadForm(form: DeadForm): DeadCase {
  if (form.kind === 'expired') return { case: 'expired', value: {} };
  return { case: 'foreign', value: { location: form.location } };
}
