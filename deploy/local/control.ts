// The supervisor's socket: whoever holds it is the one supervisor of its run directory, and `stop` and
// `status` speak to it instead of signalling a process number that may have passed to somebody else.
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunDirectory } from './run-directory.ts';

export type Phase = 'starting' | 'ready' | 'stopping';

export interface ProcessReport {
  readonly name: string;
  readonly pid: number;
  readonly address: string;
  /** "answers", or one sentence that says what is wrong. */
  readonly state: string;
}

export interface StatusReport {
  readonly pid: number;
  readonly phase: Phase;
  readonly issuer: string;
  readonly processes: readonly ProcessReport[];
}

export interface ControlHandlers {
  readonly status: () => Promise<StatusReport>;
  readonly stop: () => void;
}

/**
 * Takes the socket; false when another supervisor of this run directory holds it. It is held until the process
 * ends: the system gives it back then, whatever ended it. Every connection is served from the first moment on.
 */
export async function takeControl(run: RunDirectory, handlers: ControlHandlers): Promise<boolean> {
  const token = randomBytes(32).toString('base64url');
  const server = createServer((socket) => serve(socket, token, handlers));
  if (!(await listen(server, run))) return false;
  writeFileSync(run.controlTokenFile, token, { mode: 0o600 });
  server.unref();
  return true;
}

/**
 * Linux: a name outside the file system, which vanishes with its holder. Elsewhere a file, which is removed
 * when nobody listens on it any more.
 */
function address({ key }: RunDirectory): string {
  const name = `course-exchange-${process.getuid?.() ?? 0}-${key}`;
  return process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}.sock`);
}

async function listen(server: Server, run: RunDirectory): Promise<boolean> {
  const attempt = () =>
    new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(address(run), () => resolve(true));
    });
  if (await attempt()) return true;
  if (process.platform === 'linux' || (await isHeld(run))) return false;
  rmSync(address(run), { force: true });
  return attempt();
}

function serve(socket: Socket, token: string, handlers: ControlHandlers): void {
  socket.unref();
  socket.on('error', () => {});
  createInterface({ input: socket }).once('line', (line) => {
    const [given, request] = line.split(' ');
    if (given !== token) return socket.destroy();
    // The connection stays open until this process ends, which is the answer to `stop`.
    if (request === 'stop') return handlers.stop();
    void handlers.status().then((report) => socket.end(`${JSON.stringify(report)}\n`));
    return undefined;
  });
}

/** True while a supervisor of this run directory lives. */
function isHeld(run: RunDirectory): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address(run));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Longest wait for a report in milliseconds: a supervisor that is just ending does not answer any more. */
const statusTimeoutMs = 8_000;

/** True when the supervisor that closed its connections has let go of the socket too, within moments. */
export async function isReleased(run: RunDirectory): Promise<boolean> {
  for (let attempt = 0; attempt < 40; attempt += 1) {
    if (!(await isHeld(run))) return true;
    await sleep(50);
  }
  return false;
}

/** What the supervisor says of its stack; undefined when none lives or it is on its way out. */
export async function askStatus(run: RunDirectory): Promise<StatusReport | undefined> {
  const answer = await ask(run, 'status');
  return answer === undefined || answer === '' ? undefined : (JSON.parse(answer) as StatusReport);
}

/** Tells the supervisor to stop and resolves when it is gone; false when none lived. */
export async function askStop(run: RunDirectory): Promise<boolean> {
  return (await ask(run, 'stop')) !== undefined;
}

function ask(run: RunDirectory, request: 'status' | 'stop'): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(address(run));
    if (request === 'status') socket.setTimeout(statusTimeoutMs, () => socket.destroy());
    socket.once('error', () => resolve(answer === '' ? undefined : answer));
    socket.once('connect', () => socket.write(`${readToken(run)} ${request}\n`));
    socket.on('data', (chunk) => {
      answer += chunk.toString('utf8');
    });
    socket.once('close', () => resolve(answer));
  });
}

function readToken(run: RunDirectory): string {
  try {
    return readFileSync(run.controlTokenFile, 'utf8');
  } catch {
    return 'none';
  }
}
