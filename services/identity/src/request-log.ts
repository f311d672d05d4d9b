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
import { Refusal } from './refusals/reasons.ts';
import type { RefusalQueue } from './refusals/records.ts';
import { isSummedUp, type OnSecurityEvent, securityEvents } from './security-events.ts';

const { tokensIssued, tokensRefused, authorizationsRefused, accessTokensRefused, consentsShown } =
  identityMetrics;

/** Equal refusals in a minute, and all that a process logs (R33.4, R33.5). */
const refusals = { mostAlike: 10, windowMs: 60_000, mostLines: 1_000, apart: ['event', 'reason'] };

export type RequestLog = ReturnType<typeof createRequestLog>;

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
  const requestId = (): string => currentCall().requestId;

  /** Counts and logs the event, with the request's network. */
  const onSecurityEvent: OnSecurityEvent = ({ event, client, sub, network = callersNetwork(), reason }) => {
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

  /** By a secret, or a token that we signed for it and `sub`. */
  const onAuthenticated = (client: ClientId, sub?: Sub): void => {
    nameSubject({ user: sub && keyedUser(sub), client });
    const network = callersNetwork();
    if (sub === undefined && network !== undefined) refusalQueue?.learnNetwork(client, network);
    annotate(() => ({ 'course_exchange.client_id': logText(client) }));
  };

  const onIssued = (issued: { grantType: string; clientId: ClientId; sub: Sub }): void => {
    tokensIssued.add({ grant_type: issued.grantType, client_id: issued.clientId });
    const [grant, client] = [logText(issued.grantType), logText(issued.clientId)];
    const user = keyedUser(issued.sub);
    nameSubject({ user });
    logger.info('tokens issued', { grant, client, user });
  };

  /** A security event has its own line, a fault that of its call. */
  const logRefusal = ({ code, reason }: Refusal, client: string | undefined): void => {
    const named = client === undefined ? {} : { client: logText(client) };
    logger.info('request refused', { code: logText(code), reason: logText(reason), ...named });
  };

  const record = ({ endpoint, code, reason, facts }: Refusal, named: Named): void => {
    const { client, claimed, isAuthenticated: clientAuthenticated = false } = named;
    const sub = named.sub ?? facts.grant?.sub;
    refusalQueue?.record({
      ...{ requestId: requestId(), endpoint, clientAuthenticated, code, reason },
      ...{ clientId: client, claimedClientId: claimed, earlier: facts.earlier, network: callersNetwork() },
      user: currentCall().subject.user ?? (sub && keyedUser(sub)),
      family: facts.grant && keyedFamily(facts.grant.familyId),
    });
  };

  /** `claimed`: named by a request whose client has not authenticated. */
  const onTokenRefused = (error: unknown, claimed: () => string | undefined): void => {
    const reason = error instanceof Refusal ? error.reason : '';
    const { client } = currentCall().subject;
    tokensRefused.add({ 'error.type': errorType(error), reason, client_id: client ?? unknownClient });
    if (!(error instanceof Refusal)) return;
    const { event } = error.facts;
    if (event === undefined) logRefusal(error, client);
    record(error, {
      client: client ?? event?.client,
      isAuthenticated: client !== undefined,
      claimed: client === undefined ? claimed() : undefined,
    });
  };

  /** `client`: of a token that we signed. */
  const onAccessTokenRefused = (refused: Refusal, client: string | undefined): void => {
    nameSubject({ client });
    accessTokensRefused.add({ reason: refused.reason, client_id: client ?? unknownClient });
    logRefusal(refused, client);
    record(refused, { client, isAuthenticated: client !== undefined });
  };

  /** `client`: registered, not authenticated. A security event has its own line. */
  const onAuthorizationRefused = (
    refused: Refusal,
    client: ClientId | undefined,
    who: Omit<Named, 'client'> = {},
  ): void => {
    const { code, reason } = refused;
    authorizationsRefused.add({ 'error.type': code, reason, client_id: client ?? unknownClient });
    annotate(() => ({
      'error.type': logText(code),
      'course_exchange.error.reason': logText(reason),
      ...(client && { 'course_exchange.client_id': logText(client) }),
    }));
    if (reason !== 'consent_denied' && reason !== 'id_token_hint_refused') logRefusal(refused, client);
    record(refused, { ...who, client });
  };

  const onConsentShown = (client: ClientId): void => consentsShown.add({ client_id: client });

  return {
    keyedUser,
    keyedFamily,
    requestId,
    onSecurityEvent,
    onAuthenticated,
    onIssued,
    onTokenRefused,
    onAccessTokenRefused,
    onAuthorizationRefused,
    onConsentShown,
  };
}

function callersNetwork(): string | undefined {
  const { clientAddress } = currentCall();
  return clientAddress === '' ? undefined : networksOf(clientAddress)[0];
}
