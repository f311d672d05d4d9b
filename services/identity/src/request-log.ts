// Logs, metrics and span attributes of a request. Users and networks are keyed hashes (R27).
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import {
  type Logger,
  type LogText,
  logText,
  pseudonym,
  summarising,
} from '@course-exchange/runtime/process/logger';
import { errorType, unknownClient } from '@course-exchange/runtime/process/metrics';
import { currentCall, nameSubject } from '@course-exchange/runtime/process/request-context';
import { countSecurityEvent, expectSecurityEvents } from '@course-exchange/runtime/process/runtime-metrics';
import type { Secret } from '@course-exchange/runtime/process/secret';
import { annotate } from '@course-exchange/runtime/process/spans';
import type { ClientId, Sub } from './ids.ts';
import { identityMetrics } from './metrics.ts';
import { Refusal, type RefusalReason } from './refusals/reasons.ts';
import type { RefusalQueue } from './refusals/records.ts';
import { isSummedUp, type SecurityEvent, securityEvents } from './security-events.ts';

const { tokensIssued, tokensRefused, authorizationsRefused, accessTokensRefused, consentsShown } =
  identityMetrics;

/** Equal refusals in a minute, and all that a process logs (R33.4, R33.5). */
const refusals = { mostAlike: 10, windowMs: 60_000, mostLines: 1_000, apart: ['event', 'reason'] };

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Refusals of the authorization endpoint that are security events. */
const refusalEvents: { readonly [Reason in RefusalReason]?: 'consent.denied' | 'id_token_hint.refused' } = {
  consent_denied: 'consent.denied',
  id_token_hint_refused: 'id_token_hint.refused',
};

/** `claimed`: named by a request whose client has not authenticated. */
type Observed =
  | SecurityEvent
  /** By a secret, or by a token that we signed for it and `sub`. */
  | { readonly event: 'authenticated'; readonly client: ClientId; readonly sub?: Sub }
  | { readonly event: 'issued'; readonly grantType: string; readonly client: ClientId; readonly sub: Sub }
  | { readonly event: 'token_refused'; readonly error: unknown; readonly claimed: () => string | undefined }
  /** `client`: of a token that we signed. */
  | { readonly event: 'access_token_refused'; readonly refusal: Refusal; readonly client: string | undefined }
  | {
      readonly event: 'authorization_refused';
      readonly refusal: Refusal;
      /** Registered, not authenticated. */
      readonly client: ClientId | undefined;
      readonly claimed?: string | undefined;
      readonly sub?: Sub | undefined;
    }
  | { readonly event: 'consent_shown'; readonly client: ClientId };

/** The subject of a refused request; `client` is registered. */
interface Named {
  readonly isAuthenticated?: boolean;
  readonly client: string | undefined;
  readonly claimed?: string | undefined;
  readonly sub?: Sub | undefined;
}

/** `key` keys the hashes. */
export function createRequestLog(
  logger: Logger,
  key: Secret<Buffer>,
  refusalQueue?: Pick<RefusalQueue, 'record' | 'learnNetwork'>,
) {
  expectSecurityEvents(securityEvents);
  const summedUp: Logger = { ...logger, record: summarising(logger.record, refusals) };
  const keyedUser = (sub: string): LogText => pseudonym(key, sub);
  const keyedFamily = (familyId: string): LogText => pseudonym(key, `family ${familyId}`);

  /** Counts and logs the event, with the request's network. */
  const tell = ({ event, client, sub, network = callersNetwork(), reason }: SecurityEvent): void => {
    countSecurityEvent(event, reason, client);
    const user = sub && keyedUser(sub);
    nameSubject({ user });
    const log = isSummedUp(event) ? summedUp : logger;
    log.record('security event', {
      event: logText(event),
      ...(client === undefined ? {} : { client: logText(client) }),
      ...(user === undefined ? {} : { user }),
      ...(network === undefined ? {} : { network: pseudonym(key, `network ${network}`) }),
      ...(reason === undefined ? {} : { reason: logText(reason) }),
    });
  };

  /** A security event has its own line. */
  const refuse = ({ endpoint, code, reason, facts }: Refusal, named: Named, event = facts.event): void => {
    const { client, claimed, sub = facts.grant?.sub, isAuthenticated: clientAuthenticated = false } = named;
    const logged = client === undefined ? {} : { client: logText(client) };
    if (event) tell(event);
    else logger.info('request refused', { code: logText(code), reason: logText(reason), ...logged });
    refusalQueue?.record({
      ...{ requestId: currentCall().requestId, endpoint, clientAuthenticated, code, reason },
      ...{ clientId: client, claimedClientId: claimed, earlier: facts.earlier, network: callersNetwork() },
      user: currentCall().subject.user ?? (sub && keyedUser(sub)),
      family: facts.grant && keyedFamily(facts.grant.familyId),
    });
  };

  const refuseToken = (error: unknown, claimed: () => string | undefined): void => {
    const { client } = currentCall().subject;
    const reason = error instanceof Refusal ? error.reason : '';
    tokensRefused.add({ 'error.type': errorType(error), reason, client_id: client ?? unknownClient });
    if (!(error instanceof Refusal)) return;
    const named = client ? { client, isAuthenticated: true } : { claimed: claimed() };
    refuse(error, { client: error.facts.event?.client, ...named });
  };

  /** Returns at once. */
  const observe = (observed: Observed) => {
    switch (observed.event) {
      case 'authenticated': {
        const { client, sub } = observed;
        nameSubject({ user: sub && keyedUser(sub), client });
        const network = callersNetwork();
        if (sub === undefined && network !== undefined) refusalQueue?.learnNetwork(client, network);
        return annotate(() => ({ 'course_exchange.client_id': logText(client) }));
      }
      case 'issued': {
        const { grantType, client } = observed;
        tokensIssued.add({ grant_type: grantType, client_id: client });
        const user = keyedUser(observed.sub);
        nameSubject({ user });
        return logger.info('tokens issued', { grant: logText(grantType), client: logText(client), user });
      }
      case 'token_refused':
        return refuseToken(observed.error, observed.claimed);
      case 'access_token_refused': {
        const { refusal, client } = observed;
        nameSubject({ client });
        accessTokensRefused.add({ reason: refusal.reason, client_id: client ?? unknownClient });
        return refuse(refusal, { client, isAuthenticated: client !== undefined });
      }
      case 'authorization_refused': {
        const { refusal, client, claimed, sub } = observed;
        const { code, reason } = refusal;
        authorizationsRefused.add({ 'error.type': code, reason, client_id: client ?? unknownClient });
        annotate(() => ({
          'error.type': logText(code),
          'course_exchange.error.reason': logText(reason),
          ...(client && { 'course_exchange.client_id': logText(client) }),
        }));
        const event = refusalEvents[reason];
        return refuse(refusal, { client, claimed, sub }, event && { event, client, sub });
      }
      case 'consent_shown':
        return consentsShown.add({ client_id: observed.client });
      default:
        return tell(observed);
    }
  };

  return { observe, keyedUser, keyedFamily };
}

function callersNetwork(): string | undefined {
  const { clientAddress } = currentCall();
  return clientAddress === '' ? undefined : networksOf(clientAddress)[0];
}
