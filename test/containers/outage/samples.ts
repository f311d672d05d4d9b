// What a partner's calls were answered with while something was away: every answer with its time.
import type { Answer } from '../../support/http.ts';

export const operations = ['refresh', 'login', 'user-info', 'events', 'discovery', 'keys'] as const;
export type Operation = (typeof operations)[number];

export interface Sample {
  readonly operation: Operation;
  /** Milliseconds on the clock of `performance.now()`. */
  readonly begun: number;
  readonly ended: number;
  /** 0 where the connection broke. */
  readonly status: number;
  /** The public error code, or the error of the connection. */
  readonly error: string;
  readonly retryAfter: number;
}

export function openSamples() {
  const all: Sample[] = [];
  return {
    all,
    /** Runs the call and takes its answer down; undefined where the connection broke. */
    take: async (operation: Operation, call: () => Promise<Answer>): Promise<Answer | undefined> => {
      const begun = performance.now();
      const note = (rest: Pick<Sample, 'status' | 'error' | 'retryAfter'>) =>
        all.push({ operation, begun, ended: performance.now(), ...rest });
      try {
        const answer = await call();
        const { status, headers } = answer;
        note({ status, error: errorOf(answer), retryAfter: Number(headers['retry-after'] ?? 0) });
        return answer;
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        note({ status: 0, error: code ?? message, retryAfter: 0 });
        return undefined;
      }
    },
  };
}

function errorOf({ status, headers, text }: Answer): string {
  if (status < 400) return '';
  if (!String(headers['content-type']).startsWith('application/json')) return 'page';
  return /"error":"(\w+)"/.exec(text)?.[1] ?? 'unreadable';
}

/** `503 temporarily_unavailable ×12` for each operation and answer; empty where all went well. */
export function failuresOf(samples: readonly Sample[]): string {
  const counts = new Map<string, number>();
  for (const { operation, status, error } of samples) {
    const what = `${operation} ${status} ${error}`;
    if (status === 0 || status >= 400) counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${what} ×${count}`).join(', ');
}
