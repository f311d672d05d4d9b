// What a log may say of a call without an answer.
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import type { Failure } from '../process/errors.ts';
import { fromStatus } from './status.ts';

function unanswered(details: string, metadata = new Metadata()): Failure {
  return fromStatus(statusError(status.UNAVAILABLE, details, metadata));
}

function statusError(code: status, details: string, metadata = new Metadata()): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata });
}

test('a peer that has too much to do may be asked again; a message too large never [R14.8]', () => {
  const meant = (details: string) => fromStatus(statusError(status.RESOURCE_EXHAUSTED, details)).code;
  expect(meant('Bandwidth exhausted or memory limit exceeded')).toBe('temporarily_unavailable');
  expect(meant('Received message larger than max (67108865 vs 67108864)')).toBe('server_error');
  expect(meant('Attempted to send message with a size larger than 4')).toBe('server_error');
});

const once = 'No connection established. Last error: ';

test.each([
  [
    `round_robin: ${once}${once}Error: self-signed certificate in certificate chain. Resolution note: `,
    'self-signed certificate in certificate chain',
  ],
  [
    `round_robin: ${once}Error [ERR_TLS_CERT_ALTNAME_INVALID]: Host: identity. is not in the cert's altnames: DNS:x. Resolution note: `,
    "Host: identity. is not in the cert's altnames: DNS:x",
  ],
  [
    `${once}Error: connect ECONNREFUSED 10.0.0.7:7001. Resolution note: `,
    'connect ECONNREFUSED 10.0.0.7:7001',
  ],
  ['Deadline exceeded after 1.8s', 'Deadline exceeded after 1.8s'],
])('the reason in %j', (details, reason) => {
  expect(unanswered(details).message).toBe(reason);
});

test('no reason but the code where a service did answer', () => {
  const metadata = new Metadata();
  metadata.set('error-code', 'invalid_grant');
  expect(unanswered('a text', metadata)).toMatchObject({ code: 'invalid_grant', message: 'invalid_grant' });
});
