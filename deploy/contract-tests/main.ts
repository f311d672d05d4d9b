// The contract suite as a program, for the image that `helm test` runs inside the cluster: it writes the stack file of
// the deployment, waits until the gateway answers, runs the tests, and says what failed and which share of the clauses passed.
// Exit code 0 or 1. It writes below the temporary directory alone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startVitest } from 'vitest/node';
import { ClauseReporter } from '../../test/contract/reporter.ts';
import { discover } from '../../test/support/flow.ts';
import { sendThrough } from '../../test/support/http.ts';
import type { StackFile } from '../../test/support/stack-file.ts';
import { deploymentOf, readContractSettings } from './settings.ts';

const root = resolve(import.meta.dirname, '../..');
/** A deployment that has just been installed may not be in every pod's name service yet. */
const timeoutMs = 30_000;

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const settings = readContractSettings(process.env);
  const deployment = deploymentOf(settings);
  const scratch = mkdtempSync(join(tmpdir(), 'contract-'));
  try {
    return await judge(deployment, settings.CONTRACT_BASE_URL ?? deployment.issuer, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function judge(deployment: StackFile, address: string, scratch: string): Promise<number> {
  const stackFile = join(scratch, 'stack.json');
  writeFileSync(stackFile, JSON.stringify(deployment), { mode: 0o600 });
  // vitest keeps a token there; the account of an image has no home.
  process.env.XDG_DATA_HOME = scratch;
  await expectIssuer(deployment, address);
  process.env.STACK_FILE = stackFile;
  await runTests(scratch);
  return Number(process.exitCode ?? 0);
}

/** Throws, with the sentence that spares a few hundred failures, where the deployment is away or another one. */
async function expectIssuer({ issuer }: StackFile, address: string): Promise<void> {
  if (address !== issuer) sendThrough(issuer, address);
  const document = await patiently(() => discover(issuer)).catch((error: Error) => {
    throw new Error(`${address} does not answer as a deployment of ${issuer}: ${error.message}`);
  });
  if (document.issuer !== issuer)
    throw new Error(`${address} is the issuer ${document.issuer}, expected ${issuer}.`);
}

async function patiently<Result>(ask: () => Promise<Result>): Promise<Result> {
  const begun = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() - begun > timeoutMs) throw error;
      await sleep(500);
    }
  }
}

async function runTests(scratch: string): Promise<void> {
  const vitest = await startVitest(
    [],
    {
      root,
      config: false,
      run: true,
      watch: false,
      include: ['test/contract/**/*.test.ts'],
      // One deployment: file after file, so that no test changes what another one relies on.
      fileParallelism: false,
      isolate: false,
      fsModuleCache: false,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      reporters: [new ClauseReporter('contract')],
    },
    { cacheDir: join(scratch, 'cache') },
  );
  await vitest.close();
}
