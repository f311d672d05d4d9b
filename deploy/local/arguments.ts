// The command line of the local stack: the options of `start`, and the one that start, stop and status share. Commander
// adds --help.
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type ScenarioName, scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import { openRunDirectory } from './run-directory.ts';

export const runOption = () =>
  new Option(
    '--run-dir <dir>',
    'directory for data, logs and stack.json; each stack has its own (default: .run)',
  ).argParser((path) => openRunDirectory(resolve(path)));

export const startCommand = () =>
  new Command('start')
    .description('start everything and stay in the foreground; Ctrl-C ends it')
    .option('--detach', 'return when everything answers, and leave it running', false)
    .option('--watch', 'restart a process when its source changes, also one that has died', false)
    .option('--observe', 'serve a page with live requests, traces, logs and metrics', false)
    .option('--reset', 'delete all data first', false)
    .option('--port <n>', 'port of the gateway (0: any free port)', wholeNumber(65_535), 8_080)
    .option('--issuer <url>', 'public address, when a TLS proxy is in front', origin)
    .option('--seed <file>', 'add partners and users, in the form of stack.json', (path) => resolve(path))
    .option(
      '--restart-after <ms>',
      'time until a process that died starts again; after four deaths in a minute it stays down',
      wholeNumber(600_000),
      5_000,
    )
    .addOption(
      new Option(
        '--rehearse <scenario>',
        'plays a failure before your client, and says whether it keeps its duty (docs/rehearsals.md)',
      ).choices(Object.keys(scenarios) as ScenarioName[]),
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
