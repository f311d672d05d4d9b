// Signing keys as people read them.
import { KeyAlgorithm, KeyState, type SigningKey } from '@course-exchange/proto/operator/v1/key';
import type { Paint } from '../frame/terminal.ts';
import { dateOf } from './plain.ts';
import { type Column, table } from './tables.ts';
import { fromNow, localTime } from './times.ts';

export const algorithms = { ES256: KeyAlgorithm.ES256, RS256: KeyAlgorithm.RS256 } as const;
export const algorithmWords = ['ES256', 'RS256'] as const;

function algorithmWord(algorithm: KeyAlgorithm): string {
  return algorithmWords.find((word) => algorithms[word] === algorithm) ?? '–';
}

const states: Readonly<Record<number, string>> = {
  [KeyState.STAGED]: 'staged',
  [KeyState.ACTIVE]: 'active',
  [KeyState.SUPERSEDED]: 'superseded',
  [KeyState.RETIRED]: 'retired',
};

/** What a key can become, beside when. */
const steps: Readonly<Record<number, string>> = {
  [KeyState.STAGED]: 'activate',
  [KeyState.SUPERSEDED]: 'retire',
};

export function keyTable(keys: readonly SigningKey[], now: Date, paint: Paint): string {
  const columns: readonly Column<SigningKey>[] = [
    { heading: 'KEY', show: ({ kid }) => ({ words: kid, ink: 'bold' }) },
    { heading: 'ALGORITHM', show: ({ algorithm }) => algorithmWord(algorithm) },
    { heading: 'STATE', show: ({ state }) => states[state] ?? '–' },
    { heading: 'SINCE', show: (key) => localTime(since(key)) },
    { heading: 'NEXT STEP', show: (key) => nextStep(key, now) },
    {
      heading: 'ENCRYPTION',
      show: ({ currentEncryption, state }) =>
        currentEncryption || state === KeyState.RETIRED
          ? 'current'
          : { words: 'previous key', ink: 'yellow' },
    },
  ];
  return table(keys, columns, paint, 'There is no key.');
}

function since({ state, publishedAt, activatedAt, supersededAt, retiredAt }: SigningKey): Date | undefined {
  const times: Readonly<Record<number, Date | undefined>> = {
    [KeyState.STAGED]: dateOf(publishedAt),
    [KeyState.ACTIVE]: dateOf(activatedAt),
    [KeyState.SUPERSEDED]: dateOf(supersededAt),
    [KeyState.RETIRED]: dateOf(retiredAt),
  };
  return times[state];
}

function nextStep({ state, nextStepAt }: SigningKey, now: Date): string {
  const step = steps[state];
  const time = dateOf(nextStepAt);
  if (step === undefined || time === undefined) return '–';
  return time > now ? `${step} ${fromNow(time, now)}` : `${step} now`;
}
