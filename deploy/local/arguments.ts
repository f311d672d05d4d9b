// The command line of the local stack.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const usage = `Usage:
  npx --yes pnpm@12 start [options]   starts everything and stays in the foreground; Ctrl-C ends it
  npx --yes pnpm@12 stop              ends it, and waits until all of it is gone
  npx --yes pnpm@12 status            says what runs; exit code 0 when all of it answers, else 1

Options of start:
  --detach            returns when everything answers, and leaves it running
  --reset             deletes all data first
  --port N            port of the gateway, the one address you need (default 8080; 0: any free one)
  --issuer URL        public address, when a TLS proxy stands in front (default http://127.0.0.1:PORT)
  --seed FILE         adds partners and users, in the form that .run/stack.json has
  --restart-after MS  a process that dies is reported and starts again after MS milliseconds
                      (default 5000); what keeps dying stays down
  --run-dir DIR       where data, logs and stack.json lie (default .run); for several stacks at once
  --help              prints this
`;

export interface StartOptions {
  readonly detach: boolean;
  readonly reset: boolean;
  readonly port: number;
  readonly issuer: string | undefined;
  readonly seedFile: string | undefined;
  readonly restartAfterMs: number;
}

export type Command =
  | { readonly name: 'start'; readonly runDirectory: string | undefined; readonly options: StartOptions }
  | { readonly name: 'stop' | 'status'; readonly runDirectory: string | undefined }
  | { readonly name: 'help' };

/** A mistake on the command line, as one sentence, and where the options stand. */
export class UsageError extends Error {
  constructor(sentence: string) {
    super(`${sentence} All options: npx --yes pnpm@12 start --help`);
  }
}

export function parseCommand(words: readonly string[]): Command {
  const { values, positionals } = parse(words);
  const [name] = positionals;
  if (values.help || name === 'help') return { name: 'help' };
  if (positionals.length > 1) throw new UsageError(`"${positionals[1]}" is not expected.`);
  const runDirectory = values['run-dir'] === undefined ? undefined : resolve(values['run-dir']);
  if (name === 'stop' || name === 'status') return { name, runDirectory };
  if (name !== 'start') throw new UsageError('Say start, stop or status.');
  const options: StartOptions = {
    detach: values.detach,
    reset: values.reset,
    port: wholeNumber('--port', values.port, 65_535),
    issuer: values.issuer === undefined ? undefined : origin(values.issuer),
    seedFile: values.seed === undefined ? undefined : resolve(values.seed),
    restartAfterMs: wholeNumber('--restart-after', values['restart-after'], 600_000),
  };
  return { name, runDirectory, options };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      // `pnpm start -- --port 1` hands the two dashes on.
      args: words.filter((word) => word !== '--'),
      allowPositionals: true,
      options: {
        detach: { type: 'boolean', default: false },
        reset: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        port: { type: 'string', default: '8080' },
        issuer: { type: 'string' },
        seed: { type: 'string' },
        'restart-after': { type: 'string', default: '5000' },
        'run-dir': { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(sentenceAbout(error));
  }
}

/** Node's own sentences speak of positional arguments and of quoting. */
function sentenceAbout(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  const option = /'(?:-\w, )?(--?[^\s'=]+)/.exec(message)?.[1] ?? 'The command line';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `There is no option ${option}.`;
  return message.includes('does not take') ? `${option} takes no value.` : `${option} expects a value.`;
}

function wholeNumber(option: string, text: string, largest: number): number {
  if (/^\d{1,6}$/.test(text) && Number(text) <= largest) return Number(text);
  throw new UsageError(`${option} expects a whole number from 0 to ${largest}.`);
}

function origin(text: string): string {
  const url = URL.parse(text);
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url?.hostname ?? '');
  if (url?.origin === text && (url.protocol === 'https:' || (url.protocol === 'http:' && loopback)))
    return text;
  if (url?.protocol === 'http:' && !loopback)
    throw new UsageError('--issuer expects https: plain http is for this machine alone.');
  throw new UsageError(
    '--issuer expects an address such as https://login.example, without a path or a slash at its end.',
  );
}
