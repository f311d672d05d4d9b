// The authorization steps' outcomes as messages, and messages as the steps read them.
import { create } from '@bufbuild/protobuf';
import {
  AuthorizationParametersSchema,
  type InteractionRef,
  InteractionRefSchema,
  type AuthorizationParameters as ParametersMessage,
  LoginRejected_Reason as Reason,
} from '@course-exchange/proto/identity/v1/authorization';
import type { Beginning } from '../authorization/begin-authorization.ts';
import type { LoginPage, View } from '../authorization/get-interaction.ts';
import type { DeadForm, PresentedForm } from '../authorization/held-form.ts';
import type { Move } from '../authorization/move.ts';
import type { LoginOutcome, RejectedLogin } from '../authorization/submit-login.ts';
import type { AuthorizationParameters } from '../domain/authorization-parameters.ts';

// Both messages have the fields of the steps' own types, by the same names; protobuf's own are ignored.

/** A message without parameters is a request without parameters. */
export function readParameters(message: ParametersMessage | undefined): AuthorizationParameters {
  return message ?? create(AuthorizationParametersSchema);
}

export function readForm(message: InteractionRef | undefined): PresentedForm {
  return message ?? create(InteractionRefSchema);
}

export function toBeginning(beginning: Beginning) {
  if (beginning.kind === 'redirect') return redirect(beginning.location);
  const { interactionId, binding, expiresInSeconds } = beginning;
  return { case: 'interaction', value: { interactionId, binding, expiresIn: expiresInSeconds } } as const;
}

export function toView(view: View) {
  switch (view.kind) {
    case 'login':
      return { case: 'login', value: loginView(view) } as const;
    case 'account':
      return { case: 'account', value: { page: view.page, account: view.account } } as const;
    case 'consent': {
      const { page, account, scopes, scopesGrantedBefore } = view;
      return {
        case: 'consent',
        value: { page, account, scopes: [...scopes], scopesGrantedBefore: [...scopesGrantedBefore] },
      } as const;
    }
    case 'redirect':
      return redirect(view.location);
    case 'expired':
      return { case: 'expired', value: {} } as const;
  }
}

export function toMove(move: Move) {
  return move.kind === 'next' ? ({ case: 'next', value: {} } as const) : toDeadEnd(move);
}

/** A move that has no next page: a refusal ends the transaction in one step. */
export function toDeadEnd(move: Move) {
  if (move.kind === 'next') throw new Error('a transaction that ended has a next page');
  return move.kind === 'redirect' ? redirect(move.location) : deadForm(move);
}

export function toLoginOutcome(outcome: LoginOutcome) {
  switch (outcome.kind) {
    case 'accepted':
      return { case: 'accepted', value: { browserSession: outcome.browserSession } } as const;
    case 'redirect': {
      const { location, browserSession } = outcome;
      return { case: 'redirect', value: { redirect: { location }, browserSession } } as const;
    }
    case 'rejected':
      return { case: 'rejected', value: rejection(outcome) } as const;
    default:
      return deadForm(outcome);
  }
}

const reasons: Readonly<Record<RejectedLogin['reason'], Reason>> = {
  credentials: Reason.CREDENTIALS,
  throttled: Reason.THROTTLED,
  incomplete: Reason.INCOMPLETE,
};

function rejection({ reason, retryAfterSeconds, view }: RejectedLogin) {
  return { reason: reasons[reason], retryAfterSeconds, view: loginView(view) };
}

function loginView({ page, email }: LoginPage) {
  return { page, email };
}

function redirect(location: string) {
  return { case: 'redirect', value: { location } } as const;
}

function deadForm(form: DeadForm) {
  if (form.kind === 'expired') return { case: 'expired', value: {} } as const;
  return { case: 'foreign', value: { location: form.location } } as const;
}
