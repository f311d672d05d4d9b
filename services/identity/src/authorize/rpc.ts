// AuthorizationService: translation only. Messages and outcomes have the same field names.
import { create } from '@bufbuild/protobuf';
import {
  AuthorizationParametersSchema,
  type AuthorizationService,
  SubmitConsentRequest_Decision as Decision,
  type InteractionRef,
  InteractionRefSchema,
  Page,
  LoginRejected_Reason as Reason,
} from '@course-exchange/proto/identity/v1/authorization';
import { enumKey } from '@course-exchange/rules/enum-key';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { currentCall } from '@course-exchange/runtime/process/request-context';
import type { LoginDeps } from '../login/credentials.ts';
import {
  type AuthorizeResult,
  type BeginDeps,
  beginAuthorization,
  type StartedInteraction,
} from './begin.ts';
import { type ConsentDecision, cancelAuthorization, submitAccountChoice, submitConsent } from './choices.ts';
import type { FormResult, PresentedForm, RejectedForm } from './form.ts';
import { type LoginOutcome, submitLogin } from './login.ts';
import { getInteraction, type View } from './page.ts';
import type { PartnerRedirect } from './response.ts';
import { endBrowserSession, getBrowserSession } from './signed-in-user.ts';

export function createAuthorizationHandlers(
  deps: BeginDeps & LoginDeps,
): Handlers<typeof AuthorizationService> {
  return {
    beginAuthorization: async ({ browserSession, ...request }) => {
      const result = await beginAuthorization(deps, {
        parameters: request.parameters ?? create(AuthorizationParametersSchema),
        repeated: request.repeatedParameters,
        notUtf8: request.notUtf8Parameters,
        browserSession,
      });
      return { outcome: toAuthorizeResult(result) };
    },
    getInteraction: async ({ interaction }) => ({
      view: toView(await getInteraction(deps, readForm(interaction))),
    }),
    submitLogin: async ({ interaction, ...credentials }) => {
      const form = { ...readForm(interaction), ...credentials, clientAddress: currentCall().clientAddress };
      return { outcome: toLoginOutcome(await submitLogin(deps, form)) };
    },
    submitAccountChoice: async ({ interaction, useAnotherAccount }) => {
      const choice = await submitAccountChoice(deps, { ...readForm(interaction), useAnotherAccount });
      return { outcome: toFormResult(choice.result), sessionEnded: choice.sessionEnded };
    },
    submitConsent: async ({ interaction, decision }) => {
      const form = { ...readForm(interaction), decision: readDecision(decision) };
      return { outcome: toFormResult(await submitConsent(deps, form)) };
    },
    cancelAuthorization: async ({ interaction }) => {
      const outcome = toFormResult(await cancelAuthorization(deps, readForm(interaction)));
      if (outcome.case === 'next') throw new Error('an interaction that ended has a next page');
      return { outcome };
    },
    getBrowserSession: ({ browserSession }) => getBrowserSession(deps, browserSession),
    endBrowserSession: async ({ browserSession, formToken }) => ({
      ended: await endBrowserSession(deps, browserSession, formToken),
    }),
  };
}

function readForm(message: InteractionRef | undefined): PresentedForm {
  return message ?? create(InteractionRefSchema);
}

function readDecision(decision: Decision): ConsentDecision {
  if (decision === Decision.ALLOW) return 'allow';
  return decision === Decision.DENY ? 'deny' : 'unspecified';
}

function toAuthorizeResult(result: AuthorizeResult) {
  return result.kind === 'interaction' ? toStarted(result) : { case: result.kind, value: result };
}

function toStarted(started: StartedInteraction) {
  return { case: started.kind, value: { ...started, page: Page[enumKey(started.page)] } };
}

function toView(view: View) {
  switch (view.kind) {
    case 'login':
      return { case: view.kind, value: view };
    case 'account':
      return { case: view.kind, value: view };
    case 'consent':
      return { case: view.kind, value: view };
    default:
      return toEnd(view);
  }
}

function toEnd(end: RejectedForm | PartnerRedirect) {
  return end.kind === 'redirect' ? { case: end.kind, value: end } : { case: end.kind, value: {} };
}

function toFormResult(result: FormResult) {
  if (result.kind !== 'next') return toEnd(result);
  return { case: result.kind, value: { page: Page[enumKey(result.page)] } };
}

function toLoginOutcome(outcome: LoginOutcome) {
  switch (outcome.kind) {
    case 'accepted':
      return { case: outcome.kind, value: { ...outcome, next: { page: Page[enumKey(outcome.page)] } } };
    case 'redirect':
      return { case: outcome.kind, value: { ...outcome, redirect: outcome } };
    case 'interaction':
      return toStarted(outcome);
    case 'rejected':
      return { case: outcome.kind, value: { ...outcome, reason: Reason[enumKey(outcome.reason)] } };
    case 'expired':
      return { case: outcome.kind, value: {} };
  }
}
