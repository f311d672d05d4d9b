// The supervisor's socket: its holder is the one supervisor of its run directory. `stop` and `status` are HTTP requests
// to it and signal no process id, which may belong to another program by now.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { holdName, isHeld, socketAddress } from './exclusive.ts';
import type { RunDirectory } from './run-directory.ts';

export interface StatusReport {
  readonly pid: number;
  readonly phase: 'starting' | 'ready' | 'stopping';
  readonly issuer: string;
  /** `state`: "answers", or one sentence that says what is wrong. */
  readonly processes: readonly { name: string; pid: number; address: string; state: string }[];
}

interface ControlHandlers {
  readonly status: () => Promise<StatusReport>;
  readonly stop: () => void;
}

/** False when another process holds the socket. The system frees it when this process ends, whatever ended it. */
export async function takeControl(run: RunDirectory, handlers?: ControlHandlers): Promise<boolean> {
  const token = randomBytes(32).toString('base64url');
  const server = createServer((request, response) => {
    const allowed = request.headers.authorization === token ? handlers : undefined;
    if (allowed && request.url === '/status')
      void allowed.status().then((report) => response.end(JSON.stringify(report)));
    // The connection stays open until this process ends, which is the answer to `stop`.
    else if (allowed && request.url === '/stop') allowed.stop();
    else request.socket.destroy();
  });
  if (!(await holdName(server, run.key))) return false;
  writeFileSync(run.controlTokenFile, token, { mode: 0o600 });
  return true;
}

/** A supervisor that is just ending does not answer any more. */
const statusTimeoutMs = 8_000;

export async function askStatus(run: RunDirectory): Promise<StatusReport | undefined> {
  const answer = await ask(run, '/status', statusTimeoutMs);
  return answer ? (JSON.parse(answer) as StatusReport) : undefined;
}

/** Resolves when the supervisor has freed the socket; false when it does not, undefined when none lived. */
export async function askStop(run: RunDirectory): Promise<boolean | undefined> {
  if ((await ask(run, '/stop')) === undefined) return undefined;
  for (let attempt = 0; attempt < 40; attempt += 1) {
    if (!(await isHeld(run.key))) return true;
    await sleep(50);
  }
  return false;
}

/** Empty when the connection was closed without an answer; undefined when nothing listens. */
async function ask(run: RunDirectory, path: string, timeoutMs?: number): Promise<string | undefined> {
  const file = run.controlTokenFile;
  const authorization = existsSync(file) ? readFileSync(file, 'utf8') : 'none';
  const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const request = get({ socketPath: socketAddress(run.key), path, headers: { authorization }, signal });
  try {
    const [response] = await once(request, 'response');
    return await text(response);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['ECONNREFUSED', 'ENOENT'].includes(code) ? undefined : '';
  }
}
