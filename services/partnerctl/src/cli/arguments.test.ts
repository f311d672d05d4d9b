import type { ConnectRouter } from '@connectrpc/connect';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { RefusalService } from '@course-exchange/proto/operator/v1/refusal';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';

/** What each service is asked. */
function recording(asked: unknown[]) {
  const record = (request: object) => {
    asked.push(request);
    return {};
  };
  return (router: ConnectRouter): void => {
    router.service(UserService, {
      getUser: record,
      disableUser: record,
      enableUser: record,
      signOutUser: record,
    });
    router.service(ConsentService, { listConsents: record, withdrawConsent: record });
    router.service(SecretService, { listSecrets: record, retireSecret: record, resumeSecret: record });
    router.service(ClientService, { getClient: record, activateClient: record });
    router.service(KeyService, { activateKey: record, retireKey: record });
    router.service(RefusalService, { listRefusals: record });
  };
}

const sub = (value: string) => ({ user: { name: { case: 'sub', value } } });

test.each<[line: string, request: object]>([
  ['user show -AbCdEfGhIjKlMnOpQrStU', sub('-AbCdEfGhIjKlMnOpQrStU')],
  ['user show --bCdEfGhIjKlMnOpQrStU', sub('--bCdEfGhIjKlMnOpQrStU')],
  ['user show -Abc', sub('-Abc')],
  ['user show -ann@example.com', { user: { name: { case: 'email', value: '-ann@example.com' } } }],
  ['user show --hash -bw7yWkQ1x0aVZ3mT5uN8r', { userHash: '-bw7yWkQ1x0aVZ3mT5uN8r' }],
  ['user disable -Abc --yes', sub('-Abc')],
  ['user enable --json -Abc', sub('-Abc')],
  ['--json user sign-out --yes -hbc', sub('-hbc')],
  ['consent list --user -Abc', { ...sub('-Abc'), clientId: '' }],
  ['consent list --user=-Abc --client -acme', { ...sub('-Abc'), clientId: '-acme' }],
  ['consent withdraw --client=--acme --user --bCdEfGhIjKlMnOpQrStU --yes', { clientId: '--acme' }],
  ['client show -acme', { clientId: '-acme' }],
  ['client activate -acme --expected-version 3 --dry-run', { clientId: '-acme', dryRun: true }],
  ['client secret list -acme', { clientId: '-acme' }],
  ['client secret retire acme -s1 --yes', { clientId: 'acme', secretId: '-s1' }],
  ['client secret resume -acme --yes -s1', { clientId: '-acme', secretId: '-s1' }],
  ['key activate -kid', { kid: '-kid' }],
  ['key retire --yes -kid', { kid: '-kid' }],
  ['explain -checkout.1 --client -acme', { requestId: '-checkout.1', clientId: '-acme' }],
])('`%s` names what begins with a dash', async (line, request) => {
  const asked: unknown[] = [];
  await runAgainst(recording(asked), line.split(' '));
  expect(asked).toMatchObject([request]);
});
