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

type Suites = Readonly<
  Record<string, { readonly needs?: readonly Need[]; readonly wants?: readonly Need[] }>
>;

export class Supplies implements Reporter {
  /** Clauses that the tests name which do not run. */
  readonly excused = new Set<string>();
  #suites: Suites;
  #notRun: string[] = [];

  constructor(suites: Suites) {
    this.#suites = suites;
  }

  async onInit({ projects }: Vitest): Promise<void> {
    const needsOf = (name: string) => this.#suites[name]?.needs ?? [];
    const sentences = await bringAll(projects.flatMap(({ name }) => needsOf(name)));
    const wanted = projects.flatMap(({ name }) => this.#suites[name]?.wants ?? []);
    for (const [want, sentence] of await bringAll(wanted))
      console.log(`NOT RUN tests with ${want}: ${sentence}`);
    for (const { name, config } of projects) {
      const need = needsOf(name).find((one) => sentences.has(one));
      if (need === undefined) continue;
      console.log(`NOT RUN ${name}: ${sentences.get(need)}`);
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

/** Sentences about those that cannot be had. */
async function bringAll(needs: readonly Need[]): Promise<ReadonlyMap<Need, string>> {
  const sentences = new Map<Need, string>();
  for (const need of new Set(needs)) {
    const sentence = await bring(need);
    if (sentence !== undefined) sentences.set(need, sentence);
  }
  return sentences;
}

/** Gives a sentence where it cannot be had. Without Redis the run ends. */
async function bring(need: Need): Promise<string | undefined> {
  try {
    await (need === 'redis' ? findRedis(cacheDirectory()) : obtainProgram(need));
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    if (need !== 'redis') return message;
    console.log(`FAILED ${message}\n0 passed, 1 failed`);
    process.exit(1);
  }
}
