// One run of a command against services that the test itself plays.
import { type ConnectRouter, createClient, createRouterTransport } from '@connectrpc/connect';
import type { Call } from '../src/frame/call.ts';
import type { Answer, Command } from '../src/frame/command.ts';

export interface CommandRun {
  readonly operands?: readonly string[];
  readonly options?: Readonly<Record<string, readonly string[]>>;
  readonly dryRun?: boolean;
}

/** Neither parses words nor prints: resolves with the answer, or throws what the command throws. */
export async function runCommand(
  command: Command,
  play: (router: ConnectRouter) => void,
  { operands = [], options = {}, dryRun = false }: CommandRun,
): Promise<Answer | undefined> {
  const transport = createRouterTransport(play);
  const call: Pick<Call, 'services' | 'terminal' | 'dryRun' | 'directory' | 'now' | 'sleep' | 'signal'> = {
    services: {
      identity: (service) => createClient(service, transport),
      catalog: (service) => createClient(service, transport),
      whereIs: () => 'the test',
      close: () => {},
    },
    terminal: {
      out: () => {},
      err: () => {},
      paint: (_, said) => said,
      paintErr: (_, said) => said,
      watched: false,
      watchedErr: false,
      ask: undefined,
      width: 100,
    },
    dryRun,
    directory: '/',
    now: () => new Date('2026-11-20T12:00:00Z'),
    sleep: async () => {},
    signal: new AbortController().signal,
  };
  return command.run(call as Call, operands, options);
}
