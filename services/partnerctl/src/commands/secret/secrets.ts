// `client secret add`, `list` and `retire`: several secrets overlap, so that none is replaced with a failed call.
import { ClientSecretSchema, SecretService } from '@course-exchange/proto/operator/v1/secret';
import { command, type Noun } from '../../frame/command.ts';
import { duration, toggle } from '../../frame/options.ts';
import { handoverOptions, openHandover } from '../../handover/handover.ts';
import { changesText, plainChanges } from '../../output/changes.ts';
import { secretTable } from '../../output/clients.ts';
import { plain } from '../../output/plain.ts';
import { lifetime } from '../client/lifetime.ts';

const client = { clientId: { term: '<client-id>', about: 'The client' } } as const;

const secretAdd = command({
  name: 'add',
  about: 'Make a further secret; the others stay valid',
  details:
    'It is shown once on a terminal, written into a new file of mode 0600 (--to-file), or encrypted to the partner (--encrypt-to). It is stored nowhere. Into a pipe it goes only under --json.',
  operands: client,
  options: { expiresIn: duration('Let it expire after this time: 30m, 12h, 14d, 2w'), ...handoverOptions },
  writes: true,
  examples: [
    { does: 'Shown once', line: 'partnerctl client secret add acme --expires-in 365d' },
    {
      does: "Encrypted to the partner's OpenPGP key, to attach to a mail",
      line: 'partnerctl client secret add acme --encrypt-to acme.asc --to-file acme-secret.asc',
    },
  ],
  run: async (call, { clientId }, options) => {
    const handover = await openHandover(options, call);
    const request = { clientId, ...lifetime('expiresIn', options.expiresIn), dryRun: call.dryRun };
    const { secret, changes } = await call.services
      .identity(SecretService)
      .addSecret(request)
      .catch((error) => {
        handover.abandon();
        throw error;
      });
    const handed = secret ? await handover.deliver(secret) : undefined;
    return {
      json: {
        dryRun: call.dryRun,
        secret: secret && handed ? { secretId: secret.secretId, ...handed.plain } : null,
        changes: plainChanges(changes),
      },
      text: `${changesText(changes, call.dryRun, call.terminal.paint)}${handed ? `\n${handed.text}` : ''}`,
      ...(handed?.aside ? { aside: true } : {}),
    };
  },
});

const secretList = command({
  name: 'list',
  about: 'List the secrets of a client with the last use of each',
  details: 'A secret that was not used for a day may be retired. The last use may lie up to a minute behind.',
  operands: client,
  options: {},
  examples: [{ does: 'May I retire the old one?', line: 'partnerctl client secret list acme' }],
  run: async (call, { clientId }) => {
    const { secrets } = await call.services.identity(SecretService).listSecrets({ clientId });
    return {
      json: { secrets: secrets.map((secret) => plain(ClientSecretSchema, secret)) },
      text: secretTable(secrets, call.now(), call.terminal.paint),
    };
  },
});

const secretRetire = command({
  name: 'retire',
  about: 'End a secret with the next request',
  details:
    'Refused for a secret that was used within 24 hours, and for the last valid one: the partner would fail. --even-if-in-use is for a secret that others know.',
  operands: { ...client, secretId: { term: '<secret-id>', about: 'The secret, as `list` names it' } },
  options: { evenIfInUse: toggle("End it although the partner's calls may fail") },
  writes: true,
  asks: true,
  examples: [
    { does: 'After the partner has changed over', line: 'partnerctl client secret retire acme 5mV3rT0kQ9o' },
    {
      does: 'A secret that others know',
      line: 'partnerctl client secret retire acme 5mV3rT0kQ9o --even-if-in-use',
    },
  ],
  run: async (call, { clientId, secretId }, { evenIfInUse }) => {
    await call.confirm(`The secret ${secretId} of ${clientId} will never be valid again.`);
    const { secret, changes } = await call.services
      .identity(SecretService)
      .retireSecret({ clientId, secretId, evenIfInUse, dryRun: call.dryRun });
    return {
      json: {
        dryRun: call.dryRun,
        secret: secret ? plain(ClientSecretSchema, secret) : null,
        changes: plainChanges(changes),
      },
      text: changesText(changes, call.dryRun, call.terminal.paint),
    };
  },
});

export const secretNoun: Noun = {
  name: 'secret',
  about: 'Secrets of a client, several at a time',
  examples: [
    { does: 'Replace a secret without a failed call', line: 'partnerctl client secret add acme' },
    { does: '… then, when the old one is out of use', line: 'partnerctl client secret list acme' },
  ],
  commands: [secretAdd, secretList, secretRetire],
};
