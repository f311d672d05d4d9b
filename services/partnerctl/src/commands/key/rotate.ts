// `key rotate`: the whole rotation, step by step as time allows. It may be killed and started again at any point, and
// several may run at once: the service keeps how far it is.
import {
  KeyRotationSchema,
  KeyService,
  type RotateKeysResponse,
  SigningKeySchema,
} from '@course-exchange/proto/operator/v1/key';
import type { Call } from '../../frame/call.ts';
import { type Answer, command } from '../../frame/command.ts';
import { choice, duration, toggle } from '../../frame/options.ts';
import { changesText, plainChanges } from '../../output/changes.ts';
import { algorithms, algorithmWords, keyTable } from '../../output/keys.ts';
import { dateOf, plain } from '../../output/plain.ts';
import { localTime } from '../../output/times.ts';
import { lifetime } from '../client/lifetime.ts';

/** A little later than possible, so that clocks may differ. */
const graceMs = 500;
/** A longer wait is cut, so that a step that somebody else did is seen. */
const longestWaitMs = 60_000;

export const keyRotate = command({
  name: 'rotate',
  about: 'Stage, activate and retire as time allows, to the end',
  details:
    'Takes about 21 minutes: 300 s until every cached key set has the new key, 960 s until the last token of the old one has ended. May be interrupted and repeated at any point. --step does what is due now and ends: with --older-than that is a CronJob.',
  operands: {},
  options: {
    algorithm: choice(
      '<algorithm>',
      algorithmWords,
      'This one alone; without it all that the installation has',
    ),
    olderThan: duration('Begin only where the present key is older than this'),
    finish: toggle('Begin nothing; bring to its end what was begun'),
    step: toggle('Do what is due now and end'),
  },
  writes: true,
  examples: [
    { does: 'Rotate now and stay until the end', line: 'partnerctl key rotate' },
    {
      does: 'Every ten minutes from a CronJob; a new key every 90 days',
      line: 'partnerctl key rotate --step --older-than 90d',
    },
  ],
  run: async (call, _, { algorithm, olderThan, finish, step }) => {
    const wanted = algorithm === undefined ? {} : { algorithms: [algorithms[algorithm]] };
    const rotate = (continueOnly: boolean) =>
      call.services.identity(KeyService).rotateKeys({
        ...wanted,
        continueOnly,
        ...lifetime('olderThan', olderThan),
        dryRun: call.dryRun,
      });
    let answer = await rotate(finish);
    const changes = [...answer.changes];
    for (let at = nextTime(answer); at && !step && !call.dryRun; at = nextTime(answer)) {
      tell(call, answer, at);
      await call.sleep(Math.min(longestWaitMs, Math.max(0, at.getTime() - call.now().getTime()) + graceMs));
      answer = await rotate(true);
      changes.push(...answer.changes);
    }
    return rotationAnswer(call, { ...answer, changes });
  },
});

/** The earliest next step of a rotation that is not finished. */
function nextTime({ rotations }: Pick<RotateKeysResponse, 'rotations'>): Date | undefined {
  const times = rotations.flatMap(({ finished, nextAt }) => (finished ? [] : [dateOf(nextAt)]));
  return times.filter((time) => time !== undefined).sort((one, other) => one.getTime() - other.getTime())[0];
}

/** To standard error: the answer itself comes at the end. */
function tell({ terminal, json }: Call, { changes }: RotateKeysResponse, next: Date): void {
  if (json) return;
  if (changes.length > 0) terminal.err(changesText(changes, false, terminal.paintErr));
  if (changes.length > 0 || terminal.watchedErr) terminal.err(`Next step at ${localTime(next)}.\n`);
}

function rotationAnswer(call: Call, { rotations, keys, changes }: RotateKeysResponse): Answer {
  const next = nextTime({ rotations });
  const waits = changes.length === 0 && next !== undefined;
  const { paint } = call.terminal;
  const end = next === undefined ? 'No rotation is under way.\n' : `Next step at ${localTime(next)}.\n`;
  return {
    json: {
      dryRun: call.dryRun,
      finished: next === undefined,
      nextAt: next?.toISOString() ?? null,
      rotations: rotations.map((rotation) => plain(KeyRotationSchema, rotation)),
      keys: keys.map((key) => plain(SigningKeySchema, key)),
      changes: plainChanges(changes),
    },
    text: [
      waits ? '' : changesText(changes, call.dryRun, paint),
      end,
      '\n',
      keyTable(keys, call.now(), paint),
    ].join(''),
  };
}
