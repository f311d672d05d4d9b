// Hears that the stack shall end: Ctrl-C, a closed terminal, a signal, or `stop`.
import { watchStarters } from './starters.ts';

export interface StopRequests {
  /** Resolves at the first request with its reason. */
  readonly requested: Promise<string>;
  readonly request: (reason: string) => void;
}

/** One press of Ctrl-C may arrive several times: from the terminal and from npx and pnpm, which pass it on. */
const samePressMs = 1_000;

/** How the end of whoever started this is told, if it is a request to stop at all. */
export interface Attachment {
  /** The end of standard input is a request. */
  readonly holdsInput: boolean;
  /** It was meant to go on alone. */
  readonly background: boolean;
}

/** `onHurry` is called when the person asks again while the stop is under way. */
export function listenForStop(onHurry: () => void, { holdsInput, background }: Attachment): StopRequests {
  let firstAt: number | undefined;
  let resolveRequest: (reason: string) => void = () => {};
  const requested = new Promise<string>((resolve) => {
    resolveRequest = resolve;
  });
  const request = (reason: string) => {
    firstAt ??= performance.now();
    resolveRequest(reason);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (firstAt !== undefined && performance.now() - firstAt > samePressMs) onHurry();
      request(signal);
    });
  }
  if (!background) watchStarters(() => request('the program that started it is gone'));
  if (holdsInput) process.stdin.resume().once('end', () => request('parent gone'));
  return { requested, request };
}
