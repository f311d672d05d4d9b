// How a client behaves, as an operator and a script read it, on a real stack.
import { expect, test } from 'vitest';
import { openCaller } from '../support/flow.ts';
import { runningStack } from '../support/stack-file.ts';
import { tool } from './tool.ts';

test('a broken duty ends the command with 1 and names its last request; what does not apply is left out', async () => {
  const caller = await openCaller(runningStack());
  await caller.newTokens();
  const { clientId } = caller.partner;
  const conduct = () => tool('client', 'conduct', clientId, '--json');
  await expect.poll(async () => (await conduct()).exit, { timeout: 30_000, interval: 1_000 }).toBe(1);
  const json = JSON.parse((await conduct()).out);
  const [text, section] = [expect.any(String), 'S5.flow'];
  const broken = { verdict: 'broken', count: expect.any(Number), lastAt: text, requestId: text };
  expect(json).toEqual({ clientId, duties: expect.any(Array) });
  expect(json.duties).toContainEqual({ duty: 'pkce', section, ...broken });
  expect(json.duties).toContainEqual({ duty: 'id_token', section, verdict: 'not_visible' });
  for (const duty of json.duties) expect('lastAt' in duty).toBe(duty.verdict === 'broken');
  expect(await tool('client', 'conduct', 'nobody')).toMatchObject({ exit: 5 });
});
