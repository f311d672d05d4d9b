// SecretService: translation only.
import type { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { actorOf } from '@course-exchange/runtime/caller-name';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { Desk } from '../../operator/desk.ts';
import { addSecret } from '../../operator/secrets/add-secret.ts';
import { listSecrets } from '../../operator/secrets/list-secrets.ts';
import { retireSecret } from '../../operator/secrets/retire-secret.ts';
import { orderOf } from './caller.ts';
import { changeMessages } from './change-message.ts';
import { issuedSecretMessage, secretMessage } from './client-message.ts';
import { durationMs } from './times.ts';

export function createSecretHandlers(desk: Desk): Handlers<typeof SecretService> {
  return {
    addSecret: async (request, call) => {
      const { clientId, expiresIn } = request;
      const asked = { clientId, expiresIn: durationMs(expiresIn) };
      const { result, changes } = await addSecret(desk, orderOf(call, request), asked);
      return { ...issuedSecretMessage(result), changes: changeMessages(changes) };
    },
    listSecrets: async ({ clientId }, call) => {
      actorOf(call);
      const secrets = await listSecrets(desk, clientId);
      return { secrets: secrets.map((secret) => secretMessage(secret, desk.now())) };
    },
    retireSecret: async (request, call) => {
      const { result, changes } = await retireSecret(desk, orderOf(call, request), request);
      return { secret: secretMessage(result, desk.now()), changes: changeMessages(changes) };
    },
  };
}
