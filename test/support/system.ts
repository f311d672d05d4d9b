// A whole system of real processes whose parts can be stopped, killed and started again one by one.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { allDemoUsers, demoPartners } from '@course-exchange/local-stack/demo-accounts';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { makePlan, type StackPlan } from '@course-exchange/local-stack/plan';
import { databaseUrl, withClient } from '@course-exchange/local-stack/postgres';
import {
  bringUp,
  type Component,
  openProcesses,
  type RunningComponent,
} from '@course-exchange/local-stack/processes';
import { openRunDirectory } from '@course-exchange/local-stack/run-directory';
import { migrateBoth, prepareDatabase, seedDemoData } from '@course-exchange/local-stack/seed';
import { serviceComponents, storeComponents } from '@course-exchange/local-stack/services';
import { statOf } from '@course-exchange/local-stack/shutdown';
import { describeStack } from '@course-exchange/local-stack/stack-file';
import type { StackFile } from './stack-file.ts';

export type PartName = 'postgres' | 'redis' | PodName | 'design-catalog' | 'gateway';

export type System = Awaited<ReturnType<typeof startSystem>>;

export interface SystemOptions {
  /** Identity processes, over which gateway and catalog balance. */
  readonly identities?: 1 | 2;
  /** A directory that `deploy/images/bundle.ts` wrote: services run from it, as images do, and not from their sources. */
  readonly bundles?: string | undefined;
  /** The port at which the others find a part that listens at `port`: a link of the test's own may lie between. */
  readonly linkTo?: (name: PartName, port: number) => number;
}

type Environment = Readonly<Record<string, string>>;

/** Starts stores and services with the demo data. `additions` are added to the environment of every service. */
export async function startSystem(
  additions: Environment | ((plan: Pick<StackPlan, 'ports' | 'secrets'>) => Environment) = {},
  { identities = 1, bundles, linkTo = (_, port) => port }: SystemOptions = {},
) {
  const home = mkdtempSync(join(tmpdir(), 'course-exchange-fault-'));
  const run = openRunDirectory(home);
  const processes = openProcesses(run.processesFile);
  const running = new Map<string, RunningComponent>();
  const stop = async (): Promise<void> => {
    for (const { running: program } of running.values()) signalAll(program.pid, 'SIGCONT');
    await processes.stopAll(5_000);
    // Tried again where a killed process is slow to let go of its files.
    for (const directory of [home, run.otherPostgres])
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const made = await makePlan(run, { reset: false, port: 0 });
    const plan = { ...made, issuer: `http://127.0.0.1:${linkTo('gateway', made.ports.gateway)}` };
    const environment = typeof additions === 'function' ? additions(plan) : additions;
    const up = async (component: Component, timeoutMs?: number): Promise<void> => {
      const started = await bringUp(processes, adapted(component, environment, bundles), timeoutMs);
      running.set(component.program.name, started);
    };
    await Promise.all((await storeComponents(plan)).map((store) => up(store)));
    await prepareDatabase(plan);
    await migrateBoth(processes, plan);
    const partners = demoPartners(plan.demoPartnerUrl);
    await withClient(databaseUrl(plan, 'postgres'), (client) => seedDemoData(client, partners));
    const { ports } = plan;
    const stores = { postgres: linkTo('postgres', ports.postgres), redis: linkTo('redis', ports.redis) };
    const linked = { ...plan, ports: { ...ports, ...stores } };
    const pods = await identityPods(linked, identities);
    const { 'design-catalog': catalog, gateway } = serviceComponents(linked);
    const balanced = pods.map(
      ({ component }) => `127.0.0.1:${linkTo(component.program.name as PodName, portOf(component))}`,
    );
    const targets = {
      IDENTITY_TARGET: `ipv4:${balanced.join(',')}`,
      CATALOG_TARGET: `127.0.0.1:${linkTo('design-catalog', ports['design-catalog'])}`,
    };
    const callers = [catalog, gateway].map((component) => adapted(component, targets));
    await Promise.all(
      [...pods.map(({ component }) => component), ...callers].map((component) => up(component)),
    );
    const part = (name: PartName): RunningComponent => {
      const component = running.get(name);
      if (!component) throw new Error(`${name} is no part of the system under test.`);
      return component;
    };
    return {
      pods,
      stack: describeStack(plan, { partners, users: allDemoUsers }, [...running.values()]) as StackFile,
      logs: run.logs,
      /** Ends the part, by SIGKILL or as it likes to be asked; resolves when it is gone. */
      kill: async (name: PartName, how?: 'asked') => {
        const { running: program } = part(name);
        if (how === 'asked') process.kill(program.pid, program.stopSignal);
        else signalAll(program.pid, 'SIGKILL');
        await program.exited;
      },
      /** Starts a killed part again, at the same address; resolves when it answers, rejects when it is silent for so long. */
      start: (name: PartName, timeoutMs?: number) => up(part(name), timeoutMs),
      /** Undefined when it answers, else one sentence. */
      problem: (name: PartName) => part(name).problem(),
      /** SIGSTOP of the part and its children: it holds its connections and answers nothing. */
      pause: (name: PartName) => signalAll(part(name).running.pid, 'SIGSTOP'),
      resume: (name: PartName) => signalAll(part(name).running.pid, 'SIGCONT'),
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error(`The system under test (${basename(home)}) did not start.`, { cause: error });
  }
}

/** A service with more in its environment, of the bundles where they are given; a store as it is. */
function adapted(component: Component, more: Environment, bundles?: string): Component {
  const { name, rank, environment, arguments: words } = component.program;
  if (rank === 2) return component;
  const entry = bundles && join(bundles, name, 'app/services', name, 'src/main.js');
  const program = {
    ...component.program,
    environment: { ...environment, ...more },
    arguments: entry ? [...words.slice(0, -1), entry] : words,
  };
  return { ...component, program };
}

/** The part and its children: Postgres' backends leave its process group for separate groups. */
function signalAll(pid: number, signal: NodeJS.Signals): void {
  for (const one of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(one, signal);
    } catch {
      // Gone already.
    }
  }
}

export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => Number(statOf(one)?.[1]) === pid);
}

type PodName = 'identity' | 'identity-2';

/** The identity of the plan and, of two, another one beside it. */
async function identityPods(plan: StackPlan, count: 1 | 2) {
  const first = podOf(plan, 'identity');
  if (count === 1) return [first];
  const ports = await choosePorts(['identity', 'identity-health'], {}, Object.values(plan.ports));
  const run = { ...plan.run, sockets: mkdtempSync(join(plan.run.sockets, 'pod-')) };
  return [first, podOf({ ...plan, run, ports: { ...plan.ports, ...ports } }, 'identity-2')];
}

function podOf(plan: StackPlan, name: PodName) {
  const { program, ...component } = serviceComponents(plan).identity;
  const logFile = join(dirname(program.logFile), `${name}.log`);
  return {
    /** The operator port, as in stack.json. */
    operator: `unix:${join(plan.run.sockets, 'identity-operator')}`,
    component: { ...component, program: { ...program, name, logFile } },
  };
}

const portOf = ({ address }: Component): number => Number(address.split(':')[1]);
