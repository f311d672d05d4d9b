// The shell that `start` runs in: which of its variables and limits reach the stack, and in which sentence another ends the
// start. Postgres' variables, proxies and Node's options are the person's, for other programs.
import { accessSync, constants } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { baseSettings, telemetrySettings } from '@course-exchange/runtime/process/base-settings';
import { documentationOf } from '@course-exchange/runtime/process/settings';
import { cacheDirectory, makeDirectory } from './run-directory.ts';

const openFilesNeeded = 1_024;

/** Throws one sentence where nothing could start. */
export function enterShell(): void {
  leaveOutShell();
  makeCache();
  const { userLimits } = process.report.getReport() as { readonly userLimits?: UserLimits };
  const limit = Number(userLimits?.open_files?.soft ?? Infinity);
  if (limit < openFilesNeeded)
    throw new Error(
      `This shell allows ${limit} open files (ulimit -n): allow at least ${openFilesNeeded}, then start again.`,
    );
}

interface UserLimits {
  readonly open_files?: { readonly soft: number | 'unlimited' };
}

/** This process and its children connect to what is on this machine as our own code says: pg reads variables, and so do proxies. */
export function leaveOutShell(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name];
  for (const name of ['no_proxy', 'NO_PROXY'])
    process.env[name] = [process.env[name], '127.0.0.1', 'localhost', '::1'].filter(Boolean).join();
}

function makeCache(): void {
  const cache = cacheDirectory();
  for (const directory of [cache, join(cache, 'ports'), join(cache, 'compiled')])
    try {
      makeDirectory(directory);
      accessSync(directory, constants.W_OK | constants.X_OK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(
        `${directory} cannot be written (${code}): set XDG_CACHE_HOME to a directory that this account can write.`,
        { cause: error },
      );
    }
}

const passedOn = { LOG_LEVEL: baseSettings.LOG_LEVEL, ...telemetrySettings };
const withoutRule =
  /^(PATH|TZ|NODE_EXTRA_CA_CERTS|OTEL_(SDK_DISABLED|RESOURCE_ATTRIBUTES|TRACES_SAMPLER|EXPORTER_OTLP_.+|BSP_.+|METRIC_EXPORT_.+))$/;

/** What services get of the shell's variables, and a sentence for each that they do not take. An observed one reports here. */
export function passedToServices(observed: boolean, shell: NodeJS.ProcessEnv = process.env) {
  const environment: Record<string, string> = {};
  const refused: string[] = [];
  for (const [name, value] of Object.entries(shell)) {
    if (!value || (observed && name.startsWith('OTEL_'))) continue;
    const rule = Object.hasOwn(passedOn, name) ? passedOn[name as keyof typeof passedOn] : undefined;
    if (rule && !rule.safeParse(value).success)
      refused.push(`${name} is not passed on to the services: they take ${documentationOf(rule).expects}.`);
    else if (rule ?? withoutRule.test(name)) environment[name] = value;
  }
  return { environment, refused };
}

/** Never through a proxy: with NODE_USE_ENV_PROXY, Node's own agents and fetch send requests to this machine there too. */
const direct = new Agent();

/** Rejects when nothing answers in time. */
export function ask(
  url: string,
  timeoutMs: number,
): Promise<{ readonly ok: boolean; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    get(url, { agent: direct, signal }, async (response) => {
      const ok = response.statusCode === 200;
      resolve({ ok, body: await text(response) });
    }).on('error', reject);
  });
}
