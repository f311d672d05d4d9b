// The command line of the local stack: the options of `start`, and the one that start, stop and status share. Commander
// adds --help.
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { openRunDirectory } from './run-directory.ts';

export const runOption = () =>
  new Option(
    '--run-dir <dir>',
    'where data, logs and stack.json lie, for several stacks at once (default: .run)',
  ).argParser((path) => openRunDirectory(resolve(path)));

export const startCommand = () =>
  new Command('start')
    .description('starts everything and stays in the foreground; Ctrl-C ends it')
    .option('--detach', 'returns when everything answers, and leaves it running', false)
    .option('--watch', 'a saved source file restarts the process it belongs to, within a second', false)
    .option(
      '--observe',
      'adds a page on which requests arrive, with their traces and logs, and the metrics move',
      false,
    )
    .option('--reset', 'deletes all data first', false)
    .option(
      '--port <n>',
      'port of the gateway, the one address you need (0: any free one)',
      wholeNumber(65_535),
      8_080,
    )
    .option('--issuer <url>', 'public address, when a TLS proxy stands in front', origin)
    .option('--seed <file>', 'adds partners and users, in the form that .run/stack.json has', (path) =>
      resolve(path),
    )
    .option(
      '--restart-after <ms>',
      'a process that dies is reported and starts again after so many milliseconds; what keeps dying stays down',
      wholeNumber(600_000),
      5_000,
    )
    .addOption(runOption());

export type StartOptions = ReturnType<ReturnType<typeof startCommand>['opts']>;

function wholeNumber(largest: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,6}$/.test(text) && Number(text) <= largest) return Number(text);
    throw new InvalidArgumentError(`It expects a whole number from 0 to ${largest}.`);
  };
}

function origin(text: string): string {
  const url = URL.parse(text);
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url?.hostname ?? '');
  if (url?.protocol === 'http:' && !loopback)
    throw new InvalidArgumentError('It expects https: plain http is for this machine alone.');
  if (url?.origin === text && /^https?:/.test(text)) return text;
  throw new InvalidArgumentError(
    'It expects an address such as https://login.example, without a path or a slash at its end.',
  );
}
