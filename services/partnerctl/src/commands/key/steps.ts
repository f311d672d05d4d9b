// `key list`, `stage`, `activate`, `retire` and `reencrypt`: the steps of a rotation, one by one.
import type { Change } from '@course-exchange/proto/operator/v1/change';
import { KeyService, type SigningKey, SigningKeySchema } from '@course-exchange/proto/operator/v1/key';
import type { Call } from '../../frame/call.ts';
import { type Answer, command } from '../../frame/command.ts';
import { choice, toggle } from '../../frame/options.ts';
import { changesText, plainChanges } from '../../output/changes.ts';
import { algorithms, algorithmWords, keyTable } from '../../output/keys.ts';
import { plain } from '../../output/plain.ts';

const key = { kid: { term: '<kid>', about: 'The key, as `list` names it' } } as const;

export const keyList = command({
  name: 'list',
  about: 'List signing keys, and when the next step of each is possible',
  operands: {},
  options: { all: toggle('Retired ones too') },
  examples: [{ does: 'Where a rotation stands', line: 'partnerctl key list' }],
  run: async (call, _, { all }) => {
    const { keys } = await call.services.identity(KeyService).listKeys({ includeRetired: all });
    return {
      json: { keys: keys.map((one) => plain(SigningKeySchema, one)) },
      text: keyTable(keys, call.now(), call.terminal.paint),
    };
  },
});

export const keyStage = command({
  name: 'stage',
  about: 'Make a key and publish it; it does not sign yet',
  operands: {},
  options: { algorithm: choice('<algorithm>', algorithmWords, 'ES256: access tokens; RS256: ID tokens') },
  writes: true,
  examples: [{ does: 'The next key for ID tokens', line: 'partnerctl key stage --algorithm RS256' }],
  run: async (call, _, { algorithm }) => {
    const answer = await call.services
      .identity(KeyService)
      .stageKey({ algorithm: algorithm === undefined ? 0 : algorithms[algorithm], dryRun: call.dryRun });
    return keyAnswer(call, answer);
  },
});

export const keyActivate = command({
  name: 'activate',
  about: 'Let a staged key sign from now on',
  details:
    'Refused until the key was published for 300 s, the life of a cached key set (exit code 6, with the time). --emergency does not wait: clients that keep a key set without looking again refuse tokens for up to 300 s.',
  operands: key,
  options: { emergency: toggle('The present key is compromised: do not wait for caches') },
  writes: true,
  asks: true,
  examples: [
    { does: 'After its 300 s', line: 'partnerctl key activate 5mV3rT0kQ9o' },
    { does: 'The present key is compromised', line: 'partnerctl key activate 5mV3rT0kQ9o --emergency' },
  ],
  run: async (call, { kid }, { emergency }) => {
    if (emergency) await call.confirm('Clients with a cached key set will refuse tokens for up to 300 s.');
    const answer = await call.services
      .identity(KeyService)
      .activateKey({ kid, emergency, dryRun: call.dryRun });
    return keyAnswer(call, answer);
  },
});

export const keyRetire = command({
  name: 'retire',
  about: 'Take a key out of the key set and erase its private half',
  details:
    'Refused while a token that it signed may live (exit code 6, with the time). --emergency does not wait: tokens that it signed are refused once the key set is read again.',
  operands: key,
  options: { emergency: toggle('The key is compromised: do not wait for its tokens to end') },
  writes: true,
  asks: true,
  examples: [
    { does: 'After its tokens have ended', line: 'partnerctl key retire 5mV3rT0kQ9o' },
    { does: 'The key is compromised', line: 'partnerctl key retire 5mV3rT0kQ9o --emergency' },
  ],
  run: async (call, { kid }, { emergency }) => {
    await call.confirm(`The key ${kid} will be erased for good.`);
    const answer = await call.services
      .identity(KeyService)
      .retireKey({ kid, emergency, dryRun: call.dryRun });
    return keyAnswer(call, answer);
  },
});

export const keyReencrypt = command({
  name: 'reencrypt',
  about: 'Encrypt private keys anew under the present key-encryption key',
  details:
    'Run it after every pod has the new KEY_ENCRYPTION_KEY, with the old one as KEY_ENCRYPTION_KEY_PREVIOUS. Nothing stops meanwhile.',
  operands: {},
  options: {},
  writes: true,
  examples: [{ does: 'How many keys need it', line: 'partnerctl key reencrypt --dry-run' }],
  run: async (call) => {
    const answer = await call.services.identity(KeyService).reencryptKeys({ dryRun: call.dryRun });
    const { reencrypted, alreadyCurrent, changes } = answer;
    const did = call.dryRun ? 'would be encrypted anew' : 'encrypted anew';
    return {
      json: { dryRun: call.dryRun, reencrypted, alreadyCurrent, changes: plainChanges(changes) },
      text: `${reencrypted} ${did}, ${alreadyCurrent} already current.\n`,
    };
  },
});

function keyAnswer(
  call: Call,
  { key: one, changes }: { readonly key?: SigningKey | undefined; readonly changes: readonly Change[] },
): Answer {
  const { paint } = call.terminal;
  const after = one && !call.dryRun ? `\n${keyTable([one], call.now(), paint)}` : '';
  return {
    json: {
      dryRun: call.dryRun,
      key: one ? plain(SigningKeySchema, one) : null,
      changes: plainChanges(changes),
    },
    text: changesText(changes, call.dryRun, paint) + after,
  };
}
