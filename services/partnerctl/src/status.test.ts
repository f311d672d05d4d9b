import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { expect, test } from 'vitest';
import { runAgainst } from '../testing/run.ts';

test('a catalog whose address is not given is neither asked nor shown', async () => {
  const status = (words: readonly string[], environment?: Record<string, string>) =>
    runAgainst(
      (router) => {
        router.service(ClientService, { describeInstallation: () => ({}), listClients: () => ({}) });
        router.service(KeyService, { listKeys: () => ({}) });
      },
      ['status', ...words],
      environment && { environment },
    );
  expect((await status([])).out).toMatch(/Catalog.*does not answer/);
  expect((await status([], {})).out).not.toContain('Catalog');
  expect(JSON.parse((await status(['--json'], {})).out)).toMatchObject({ catalogAnswers: null });
});
