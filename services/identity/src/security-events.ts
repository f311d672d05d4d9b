// Security events: what somebody who watches for abuse must see, one log line each, under a name that stays (R33).
// An event names the client, the user and the network that are known; a person and a network only as keyed hashes (R27).
// What a caller merely claims, such as an unknown client_id, is not in it: anything may stand there.

import { Failure } from '@course-exchange/runtime/process/errors';
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import {
  type Logger,
  type LogText,
  logText,
  nameUser,
  pseudonym,
} from '@course-exchange/runtime/process/logger';
import { clientAddressOf } from '@course-exchange/runtime/process/request-context';
import { countSecurityEvent, expectSecurityEvents } from '@course-exchange/runtime/process/runtime-metrics';
import type { Secret } from '@course-exchange/runtime/process/secret';
import type { ClientId, Sub } from './ids.ts';

/** Why a login no longer counts, and a grant ended before its time (R13). */
const loginEnds = ['user_disabled', 'signed_out_by_operator', 'user_deleted'] as const;
const grantEnds = ['consent_withdrawn', ...loginEnds] as const;

/** Each event with its reasons. `generate` writes the table of docs/operations.md from it. */
export const securityEvents = {
  'login.accepted': [],
  'login.refused': ['incomplete', 'unknown_user', 'wrong_password', 'user_disabled'],
  'login.throttled': [],
  'session.begun': [],
  'session.ended': ['sign_out', 'another_account', 'new_login', ...loginEnds],
  'id_token_hint.refused': [],
  'consent.given': [],
  'consent.denied': [],
  'consent.withdrawn': [],
  'client_authentication.failed': ['no_credentials', 'unknown_client', 'inactive_client', 'wrong_secret'],
  'code.refused': [
    'malformed',
    'expired',
    'foreign',
    'forged',
    'replayed',
    'redirect_uri',
    'verifier',
    ...grantEnds,
  ],
  'refresh_token.refused': ['malformed', 'expired', 'foreign', 'reused', ...grantEnds],
  'grant.revoked': ['code_replayed', ...grantEnds],
} as const;

type SecurityEventName = keyof typeof securityEvents;
export type ReasonOf<Name extends SecurityEventName> = (typeof securityEvents)[Name][number];

export type SecurityEvent<Name extends SecurityEventName = SecurityEventName> = {
  readonly event: Name;
  /** Of a client that exists. */
  readonly client?: ClientId | undefined;
  readonly sub?: Sub | undefined;
  /** As the login throttle counts it; where it is not given, that of the request. */
  readonly network?: string | undefined;
  readonly reason?: string;
} & ([ReasonOf<Name>] extends [never] ? unknown : { readonly reason: ReasonOf<Name> });

/** Told of each security event. Returns at once. */
export type OnSecurityEvent = <Name extends SecurityEventName>(event: SecurityEvent<Name>) => void;

/** A Failure that is a security event too. */
export class Refusal<Code extends string = string> extends Failure<Code> {
  readonly event: SecurityEvent;

  constructor(code: Code, event: SecurityEvent) {
    super(code, [event.event, event.reason].join(' ').trim());
    this.event = event;
  }
}

export type UserLog = ReturnType<typeof createUserLog>;

/** What logs tell of users and networks, each under a hash that `key` keys (R27). */
export function createUserLog(logger: Logger, key: Secret<Buffer>) {
  expectSecurityEvents(securityEvents);
  const keyedUser = (sub: string): LogText => pseudonym(key, sub);

  /** Counts the event and writes it, with the network that the request came from. */
  const onSecurityEvent: OnSecurityEvent = ({ event, client, sub, network = callersNetwork(), reason }) => {
    countSecurityEvent(event, reason, client);
    const user = sub && keyedUser(sub);
    if (user !== undefined) nameUser(user);
    logger.record('security event', {
      event: logText(event),
      ...(client === undefined ? {} : { client: logText(client) }),
      ...(user === undefined ? {} : { user }),
      ...(network === undefined ? {} : { network: pseudonym(key, `network ${network}`) }),
      ...(reason === undefined ? {} : { reason: logText(reason) }),
    });
  };

  /** One line for each grant that became tokens, which is no security event. */
  const onIssued = (issued: { grantType: string; clientId: ClientId; sub: Sub }): void => {
    const [grant, client] = [logText(issued.grantType), logText(issued.clientId)];
    const user = keyedUser(issued.sub);
    nameUser(user);
    logger.info('tokens issued', { grant, client, user });
  };

  /** One line for each refusal that is no security event; `client` exists. */
  const onRefused = ({ code, message }: Failure, client: string | undefined): void => {
    const named = client === undefined ? {} : { client: logText(client) };
    logger.info('request refused', { code: logText(code), reason: logText(message), ...named });
  };

  return { keyedUser, onSecurityEvent, onIssued, onRefused };
}

function callersNetwork(): string | undefined {
  const address = clientAddressOf();
  return address === '' ? undefined : networksOf(address)[0];
}
