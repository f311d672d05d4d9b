// What a log may say of a call that nobody answered.
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { Failure } from './failure.ts';
import { connectionProblem, fromStatus } from './rpc-errors.ts';

function unanswered(details: string, metadata = new Metadata()): Failure {
  const error: ServiceError = Object.assign(new Error(details), {
    code: status.UNAVAILABLE,
    details,
    metadata,
  });
  return fromStatus(error);
}

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
  expect(connectionProblem(unanswered(details))).toBe(reason);
});

test('nothing where a service did answer, or nobody called', () => {
  const metadata = new Metadata();
  metadata.set('error-code', 'temporarily_unavailable');
  expect(connectionProblem(unanswered('temporarily_unavailable', metadata))).toBeUndefined();
  expect(connectionProblem(new Failure('server_error', 'x', { cause: new Error('text') }))).toBeUndefined();
});
