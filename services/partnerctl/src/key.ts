// `key`: signing keys, which go staged → active → superseded → retired (R17.1, R17.2).
import { Option } from '@commander-js/extra-typings';
import {
  KeyAlgorithm,
  KeyAlgorithmSchema,
  KeyService,
  KeyState,
  KeyStateSchema,
  type RotateKeysResponse,
  type SigningKey,
} from '@course-exchange/proto/operator/v1/key';
import { type CommandContext, newCommand, newGroup, withAction } from './cli/command.ts';
import { durationOption, given } from './cli/options.ts';
import { type ChangeResponse, changeResult, changesText, enumName, type Result } from './output/result.ts';
import { type Columns, dateOf, fromNow, localTime, table } from './output/table.ts';

export function keyCommand() {
  const about = 'Signing keys: staged, active, superseded, retired';
  return newGroup('key', about, [
    listCommand(),
    rotateCommand(),
    stageCommand(),
    activateCommand(),
    retireCommand(),
    reencryptCommand(),
  ]);
}

function listCommand() {
  const command = newCommand('list', {
    about: 'List signing keys, and when the next step of each is possible',
    examples: { 'How far a rotation is': 'partnerctl key list' },
  }).option('--all', 'Include retired keys');
  return withAction(command, async ({ services, now }, { all }) => {
    const request = { includeRetired: all === true };
    const { keys } = await services.identity(KeyService).listKeys(request);
    return { json: { keys }, text: keyTable(keys, now()) };
  });
}

function stageCommand() {
  const command = newCommand('stage', {
    about: 'Create a key and publish it; it does not sign yet',
    examples: { 'The next key for ID tokens': 'partnerctl key stage --algorithm RS256' },
    takes: ['--dry-run'],
  }).addOption(algorithmOption('ES256: access tokens; RS256: ID tokens').makeOptionMandatory());
  return withAction(command, async (context, { algorithm }) => {
    const { dryRun, services } = context;
    const request = { algorithm: algorithms[algorithm], dryRun };
    return keyResult(context, await services.identity(KeyService).stageKey(request));
  });
}

const kidArgument = ['<kid>', 'The key, as `list` names it'] as const;

function activateCommand() {
  const command = newCommand('activate', {
    about: 'Make a staged key sign from now on',
    details:
      'Refused until the key has been published for 310 s and every cached key set has it (exit code 6, with the time). --emergency does not wait: clients with a cached key set refuse tokens for up to 300 s.',
    examples: {
      'After its 310 s': 'partnerctl key activate 5mV3rT0kQ9o',
      'The active key is compromised': 'partnerctl key activate 5mV3rT0kQ9o --emergency',
    },
    takes: ['--dry-run', '--yes'],
  })
    .argument(...kidArgument)
    .option('--emergency', 'The active key is compromised: do not wait for caches');
  return withAction(command, async (context, kid, { emergency = false }) => {
    const { dryRun, services } = context;
    if (emergency) await context.confirm('Clients with a cached key set will refuse tokens for up to 300 s.');
    return keyResult(context, await services.identity(KeyService).activateKey({ kid, emergency, dryRun }));
  });
}

function retireCommand() {
  const command = newCommand('retire', {
    about: 'Remove a key from the key set and erase its private half',
    details:
      'Refused while a token that it signed may be valid (exit code 6, with the time). --emergency does not wait: clients that fetch the key set again refuse its tokens.',
    examples: {
      'After its last token has expired': 'partnerctl key retire 5mV3rT0kQ9o',
      'The key is compromised': 'partnerctl key retire 5mV3rT0kQ9o --emergency',
    },
    takes: ['--dry-run', '--yes'],
  })
    .argument(...kidArgument)
    .option('--emergency', 'The key is compromised: do not wait for its tokens to expire');
  return withAction(command, async (context, kid, { emergency = false }) => {
    const { dryRun, services } = context;
    await context.confirm(`The key ${kid} will be erased permanently.`);
    return keyResult(context, await services.identity(KeyService).retireKey({ kid, emergency, dryRun }));
  });
}

function keyResult(
  context: CommandContext,
  response: ChangeResponse & { readonly key?: SigningKey | undefined },
): Result {
  const { key } = response;
  const after = key && !context.dryRun ? `\n${keyTable([key], context.now())}` : '';
  return changeResult(context, response, after);
}

function reencryptCommand() {
  const command = newCommand('reencrypt', {
    about: 'Encrypt private keys again under the present key-encryption key',
    details:
      'Run it after every pod has the new KEY_ENCRYPTION_KEY, with the old one as KEY_ENCRYPTION_KEY_PREVIOUS.',
    examples: { 'How many keys need it': 'partnerctl key reencrypt --dry-run' },
    takes: ['--dry-run'],
  });
  return withAction(command, async (context) => {
    const { dryRun, services } = context;
    const response = await services.identity(KeyService).reencryptKeys({ dryRun });
    const count = `${response.reencrypted} ${dryRun ? 'would be encrypted' : 'encrypted'} again`;
    const text = `${count}, ${response.alreadyCurrent} already current.\n`;
    return { ...changeResult(context, response), text };
  });
}

const algorithms = { ES256: KeyAlgorithm.ES256, RS256: KeyAlgorithm.RS256 } as const;

function algorithmOption(about: string) {
  return new Option('--algorithm <algorithm>', about).choices(['ES256', 'RS256'] as const);
}

function since(key: SigningKey): SigningKey['publishedAt'] {
  if (key.state === KeyState.STAGED) return key.publishedAt;
  if (key.state === KeyState.ACTIVE) return key.activatedAt;
  return key.state === KeyState.SUPERSEDED ? key.supersededAt : key.retiredAt;
}

export function keyTable(keys: readonly SigningKey[], now: Date): string {
  const columns: Columns<SigningKey> = {
    KEY: ({ kid }) => ({ text: kid, color: 'bold' }),
    ALGORITHM: ({ algorithm }) => enumName(KeyAlgorithmSchema, algorithm),
    STATE: ({ state }) => enumName(KeyStateSchema, state),
    SINCE: since,
    'NEXT STEP': (key) => nextStep(key, now),
    ENCRYPTION: ({ currentEncryption, state }) =>
      currentEncryption || state === KeyState.RETIRED ? 'current' : { text: 'previous key', color: 'yellow' },
  };
  return table(keys, columns, 'No keys.');
}

function nextStep({ state, nextStepAt }: SigningKey, now: Date): string | undefined {
  const step = { [KeyState.STAGED]: 'activate', [KeyState.SUPERSEDED]: 'retire' }[Number(state)];
  if (step === undefined || nextStepAt === undefined) return undefined;
  const time = dateOf(nextStepAt);
  return time > now ? `${step} ${fromNow(time, now)}` : `${step} now`;
}

const clockSkewMs = 500;
/** A longer wait is split, to notice a step by someone else. */
const maxWaitMs = 60_000;

function rotateCommand() {
  const command = newCommand('rotate', {
    about: 'Perform a whole rotation: stage, activate and retire',
    details:
      'Takes about 21 minutes: 310 s until every cached key set has the new key, 960 s until the last token of the old one has expired. Can be interrupted and repeated. --step takes the step that is due and exits: use it with --older-than in a CronJob.',
    examples: {
      'Rotate now and stay until the end': 'partnerctl key rotate',
      'Every ten minutes from a CronJob; a new key every 90 days':
        'partnerctl key rotate --step --older-than 90d',
    },
    takes: ['--dry-run'],
  })
    .addOption(algorithmOption('Only this one; by default all that the installation has'))
    .addOption(durationOption('--older-than <time>', 'Start only if the active key is older than this'))
    .option('--finish', 'Start nothing; finish what was started')
    .option('--step', 'Take the step that is due and exit');
  return withAction(command, async (context, { algorithm, olderThan, finish, step }) => {
    const { services, dryRun, sleep, now, json } = context;
    const { err } = context.terminal;
    const scope = given({ algorithms: algorithm && [algorithms[algorithm]], olderThan });
    const rotate = (continueOnly: boolean) =>
      services.identity(KeyService).rotateKeys({ ...scope, continueOnly, dryRun });
    let response = await rotate(finish === true);
    const changes = [...response.changes];
    for (let at = nextStepAt(response); at && !step && !dryRun; at = nextStepAt(response)) {
      const taken = response.changes.length > 0;
      if (taken && !json) err.write(changesText(response.changes, false));
      if ((taken || err.isTty) && !json) err.write(`Next step at ${localTime(at)}.\n`);
      await sleep(Math.min(maxWaitMs, Math.max(0, at.getTime() - now().getTime()) + clockSkewMs));
      response = await rotate(true);
      changes.push(...response.changes);
    }
    return rotationResult(context, { ...response, changes });
  });
}

function nextStepAt({ rotations }: RotateKeysResponse): Date | undefined {
  const times = rotations.flatMap(({ finished, nextAt }) => (finished || !nextAt ? [] : [dateOf(nextAt)]));
  return times.sort((one, other) => one.getTime() - other.getTime())[0];
}

function rotationResult({ dryRun, now }: CommandContext, response: RotateKeysResponse): Result {
  const { rotations, keys, changes } = response;
  const next = nextStepAt(response);
  const changed = changes.length === 0 && next ? '' : changesText(changes, dryRun);
  const end = next === undefined ? 'No rotation is in progress.' : `Next step at ${localTime(next)}.`;
  return {
    json: { dryRun, finished: next === undefined, nextAt: next, rotations, keys, changes },
    text: `${changed}${end}\n\n${keyTable(keys, now())}`,
  };
}
