// The restore fence and browser sessions: one that had ended since the backup of Redis does not come to life.
import { expect, test } from 'vitest';
import { useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { anna, openOperatorContext } from '../../../../test/stores/operator-context.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import { formToken } from '../authorize/interaction.ts';
import { endBrowserSession, getBrowserSession } from '../authorize/signed-in-user.ts';
import { hashSecret } from '../secrets.ts';
import { putUpFence } from './fence.ts';

const { beginForm, deps, identity, redis, signIn } = await useAuthorization();

test('a session that was signed out after the backup of Redis is dead after the fence [R13.5]', async () => {
  const server = serverOf(redis);
  const { browserSession } = await signIn(await beginForm());
  const isSignedIn = async () => (await getBrowserSession(deps, browserSession)).account !== undefined;
  const key = `session:${hashSecret(browserSession)}`;
  const backup = await server.dumpBuffer(key);
  expect(await endBrowserSession(deps, browserSession, formToken(browserSession, 'sign-out'))).toBe(true);
  expect(await isSignedIn()).toBe(false);
  await server.restore(key, 60_000, backup ?? '', 'REPLACE');
  expect(await isSignedIn()).toBe(true);
  const restore = { store: 'redis', trail: undefined, acceptUnknown: false } as const;
  await putUpFence(openOperatorContext(identity), anna, restore);
  expect(await isSignedIn()).toBe(false);
});
