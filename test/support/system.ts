// A whole system of real processes whose parts can be stopped, killed and started again one by one.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { bringUp, type Component, type RunningComponent } from '@course-exchange/local-stack/component';
import { migrateBoth, prepareDatabase } from '@course-exchange/local-stack/database';
import { allDemoUsers, demoPartners } from '@course-exchange/local-stack/demo-accounts';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { makePlan, operatorSocket, type StackPlan } from '@course-exchange/local-stack/plan';
import { databaseUrl, withClient } from '@course-exchange/local-stack/postgres';
import { openProcesses } from '@course-exchange/local-stack/processes';
import { openRunDirectory } from '@course-exchange/local-stack/run-directory';
import { seedDemoData } from '@course-exchange/local-stack/seed';
import { serviceComponents, storeComponents } from '@course-exchange/local-stack/services';
import { statOf } from '@course-exchange/local-stack/shutdown';
import { describeStack } from '@course-exchange/local-stack/stack-file';
import type { StackFile } from './stack-file.ts';

export type PartName = 'postgres' | 'redis' | PodName | 'design-catalog' | 'gateway';

export type System = {
  readonly stack: StackFile;
  readonly pods: readonly IdentityPod[];
  /** Directory of the processes' logs. */
  readonly logs: string;
  /** Ends the part, by SIGKILL or as it likes to be asked; resolves when it is gone. */
  readonly kill: (name: PartName, how?: 'asked') => Promise<void>;
  /** Starts a killed part again, at the same address; resolves when it answers, rejects when it is silent for so long. */
  readonly start: (name: PartName, timeoutMs?: number) => Promise<void>;
  /** SIGSTOP of the part and its children: it holds its connections and answers nothing. */
  readonly pause: (name: PartName) => void;
  readonly resume: (name: PartName) => void;
  readonly stop: () => Promise<void>;
};

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
): Promise<System> {
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
    const plan = await makePlan(run, { reset: false, port: 0 });
    const environment = typeof additions === 'function' ? additions(plan) : additions;
    const up = async (component: Component, timeoutMs?: number): Promise<void> => {
      const asBuilt = bundles === undefined ? component : fromBundle(component, bundles);
      const started = await bringUp(processes, withEnvironment(asBuilt, environment), timeoutMs);
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
    const targets = {
      IDENTITY_TARGET: balanced(
        pods.map(({ component }) => linkTo(component.program.name as PodName, portOf(component))),
      ),
      CATALOG_TARGET: `127.0.0.1:${linkTo('design-catalog', ports['design-catalog'])}`,
    };
    const callers = [catalog, gateway].map((component) => withEnvironment(component, targets));
    await Promise.all(
      [...pods.map(({ component }) => component), ...callers].map((component) => up(component)),
    );
    return {
      pods,
      stack: describeStack(plan, { partners, users: allDemoUsers }, [...running.values()]),
      logs: run.logs,
      kill: async (name, how) => {
        const { running: program } = part(running, name);
        if (how === 'asked') process.kill(program.pid, program.stopSignal);
        else signalAll(program.pid, 'SIGKILL');
        await program.exited;
      },
      start: (name, timeoutMs) => up(part(running, name), timeoutMs),
      pause: (name) => signalAll(part(running, name).running.pid, 'SIGSTOP'),
      resume: (name) => signalAll(part(running, name).running.pid, 'SIGCONT'),
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error(`The system under test (${basename(home)}) did not start.`, { cause: error });
  }
}

function withEnvironment(component: Component, environment: Readonly<Record<string, string>>): Component {
  if (component.program.rank === 2) return component;
  return {
    ...component,
    program: { ...component.program, environment: { ...component.program.environment, ...environment } },
  };
}

function fromBundle(component: Component, bundles: string): Component {
  const { name, rank } = component.program;
  if (rank === 2) return component;
  const flags = component.program.arguments.slice(0, -1);
  const entry = join(bundles, name, 'app/services', name, 'src/main.js');
  return { ...component, program: { ...component.program, arguments: [...flags, entry] } };
}

function part(running: ReadonlyMap<string, RunningComponent>, name: PartName): RunningComponent {
  const component = running.get(name);
  if (!component) throw new Error(`${name} is no part of the system under test.`);
  return component;
}

/** The part and its children: Postgres' backends leave its process group for groups of their own. */
function signalAll(pid: number, signal: NodeJS.Signals): void {
  for (const one of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(one, signal);
    } catch {
      // Gone already.
    }
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((one) => Number(statOf(one)?.[1]) === pid);
}

type PodName = 'identity' | 'identity-2';

interface IdentityPod {
  /** `host:port` of what the gateway and the catalog call. */
  readonly address: string;
  /** Of the operator port, as in stack.json. */
  readonly operator: string;
  readonly component: Component;
}

/** The identity of the plan and, of two, another one beside it. */
async function identityPods(plan: StackPlan, count: 1 | 2): Promise<readonly IdentityPod[]> {
  const first = podOf(plan, 'identity');
  if (count === 1) return [first];
  const ports = await choosePorts(['identity', 'identity-health'], {}, Object.values(plan.ports));
  const run = { ...plan.run, sockets: mkdtempSync(join(plan.run.sockets, 'pod-')) };
  return [first, podOf({ ...plan, run, ports: { ...plan.ports, ...ports } }, 'identity-2')];
}

function podOf(plan: StackPlan, name: PodName): IdentityPod {
  const { program, ...component } = serviceComponents(plan).identity;
  const logFile = join(dirname(program.logFile), `${name}.log`);
  return {
    address: component.address,
    operator: `unix:${operatorSocket(plan.run, 'identity-operator')}`,
    component: { ...component, program: { ...program, name, logFile } },
  };
}

/** What a client of identity is given to balance over pods at these ports. */
function balanced(ports: readonly number[]): string {
  const addresses = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return ports.length === 1 ? addresses : `ipv4:${addresses}`;
}

const portOf = ({ address }: Component): number => Number(address.split(':')[1]);
