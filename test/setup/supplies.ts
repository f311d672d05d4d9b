// Brings what the chosen suites need before any of them runs, in this process alone. A suite that cannot have its program does
// not run, and says so in one line; the clauses that it alone proves are not missed. Without Redis the run ends at once.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRedis } from '@course-exchange/local-stack/redis';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';
import type { Reporter, Vitest } from 'vitest/node';
import { root } from '../check/step.ts';
import { clausesNamed } from '../contract/reporter.ts';
import { obtainProgram, type ProgramName } from '../support/programs.ts';

export type Need = ProgramName | 'redis';

export class Supplies implements Reporter {
  /** Clauses that the tests name which do not run. */
  readonly excused = new Set<string>();
  #needs: Readonly<Record<string, readonly Need[]>>;
  #notRun: string[] = [];

  constructor(needs: Readonly<Record<string, readonly Need[]>>) {
    this.#needs = needs;
  }

  async onInit({ projects }: Vitest): Promise<void> {
    for (const { name, config } of projects) {
      const missing = await bring(this.#needs[name] ?? []);
      if (missing === undefined) continue;
      console.log(`NOT RUN ${name}: ${missing}`);
      this.#notRun.push(name);
      for (const file of globSync(config.include, { cwd: root }))
        for (const clause of clausesNamed(readFileSync(join(root, file), 'utf8'))) this.excused.add(clause);
      config.include = [];
    }
  }

  onTestRunEnd(): void {
    if (this.#notRun.length > 0) console.log(`suites that did not run: ${this.#notRun.join(', ')}`);
  }
}

/** Gives a sentence about the first that cannot be had. */
async function bring(needs: readonly Need[]): Promise<string | undefined> {
  for (const need of needs) {
    const bringing = need === 'redis' ? findRedis(cacheDirectory()) : obtainProgram(need);
    const missing = await bringing.then(
      () => undefined,
      ({ message }: Error) => message,
    );
    if (missing !== undefined && need === 'redis') {
      console.log(`FAILED ${missing}\n0 passed, 1 failed`);
      process.exit(1);
    }
    if (missing !== undefined) return missing;
  }
  return undefined;
}
