// One run of the tool within the test's process, against services that the test itself plays.
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { type CliDeps, runCli } from '../src/cli.ts';
import { openTerminal } from '../src/output/terminal.ts';

export interface Run {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions extends Partial<Omit<CliDeps, 'terminal'>> {
  /** What a person types when asked; undefined: no terminal. */
  readonly answer?: string;
  /** A person watches both outputs, in colour. */
  readonly isTty?: boolean;
}

export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { answer, isTty = false } = options;
  const stdin = Readable.from([]);
  const [stdout, stderr] = [collecting(isTty), collecting(isTty)];
  const ask = async (question: string): Promise<string> => {
    stderr.write(question);
    return answer ?? '';
  };
  const exit = await runCli(argv, {
    environment: {},
    directory: '/',
    actor: 'ann',
    newRequestId: () => '00000000-0000-4000-8000-000000000000',
    now: () => new Date('2026-11-20T12:00:00Z'),
    sleep: (ms) => sleep(Math.min(ms, 1)),
    signal: new AbortController().signal,
    input: stdin,
    ...options,
    terminal: {
      ...openTerminal({ stdin, stdout, stderr } as unknown as NodeJS.Process),
      ask: answer === undefined ? undefined : ask,
    },
  });
  return { exit, out: stdout.written.join(''), err: stderr.written.join('') };
}

function collecting(isTTY: boolean) {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk, _, done) => {
      written.push(String(chunk));
      done();
    },
  });
  return Object.assign(stream, { isTTY, written, hasColors: () => isTTY });
}

/** As `run`, with both services played by `routes` on a separate port. */
export async function runAgainst(
  routes: (router: ConnectRouter) => void,
  argv: readonly string[],
  options: RunOptions = {},
): Promise<Run> {
  const server = createServer(connectNodeAdapter({ routes })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const environment = { PARTNERCTL_CATALOG: address };
    return await run([...argv, '--identity', address], { environment, ...options });
  } finally {
    server.close();
  }
}
