// A whole system of real processes whose parts can be stopped, killed and started again one by one.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { migrateBoth, prepareDatabase, withClient } from '@course-exchange/local-stack/database';
import { demoPartners } from '@course-exchange/local-stack/demo-partners';
import { demoPeople } from '@course-exchange/local-stack/demo-people';
import { postgresUrl } from '@course-exchange/local-stack/embedded-postgres';
import { bringUp, type Member, type RunningMember } from '@course-exchange/local-stack/members';
import { makePlan } from '@course-exchange/local-stack/plan';
import { openProcesses } from '@course-exchange/local-stack/processes';
import { openRunDirectory } from '@course-exchange/local-stack/run-directory';
import { seedDemoData } from '@course-exchange/local-stack/seed';
import { catalogMember, gatewayMember, type StackPlan } from '@course-exchange/local-stack/service-members';
import { describeStack } from '@course-exchange/local-stack/stack-file';
import { database, postgresMember, redisMember } from '@course-exchange/local-stack/store-members';
import { balanced, type IdentityPod, identityPods, type PodName } from './identity-pods.ts';
import type { StackFile } from './stack-file.ts';

export type PartName = 'postgres' | 'redis' | PodName | 'design-catalog' | 'gateway';

export type System = {
  readonly stack: StackFile;
  readonly pods: readonly IdentityPod[];
  /** Directory of the processes' logs. */
  readonly logs: string;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: (name: PartName) => Promise<void>;
  /** Starts a killed part again, at the same address; resolves when it answers. */
  readonly start: (name: PartName) => Promise<void>;
  /** SIGSTOP of the part and its children: it holds its connections and answers nothing. */
  readonly pause: (name: PartName) => void;
  readonly resume: (name: PartName) => void;
  readonly stop: () => Promise<void>;
};

export interface SystemOptions {
  /** Identity processes, over which gateway and catalog balance. */
  readonly identities?: number;
}

type Environment = Readonly<Record<string, string>>;

/** Starts stores and services with the demo data. `additions` are added to the environment of every service. */
export async function startSystem(
  additions: Environment | ((ports: StackPlan['ports']) => Environment) = {},
  { identities = 1 }: SystemOptions = {},
): Promise<System> {
  const home = mkdtempSync(join(tmpdir(), 'course-exchange-fault-'));
  const run = openRunDirectory(home);
  const processes = openProcesses();
  const running = new Map<string, RunningMember>();
  const stop = async (): Promise<void> => {
    for (const { running: program } of running.values()) signalAll(program.pid, 'SIGCONT');
    await processes.stopAll(5_000);
    for (const directory of [home, run.otherPostgres]) rmSync(directory, { recursive: true, force: true });
  };
  try {
    const plan = await makePlan(run, {
      detach: false,
      reset: false,
      port: 0,
      issuer: undefined,
      seedFile: undefined,
      restartAfterMs: 0,
    });
    const { ports, secrets } = plan;
    const environment = typeof additions === 'function' ? additions(ports) : additions;
    const up = async (member: Member): Promise<void> => {
      running.set(member.program.name, await bringUp(processes, withEnvironment(member, environment)));
    };
    await Promise.all([
      up(await postgresMember(run, ports.postgres, secrets)),
      up(await redisMember(run, ports.redis, secrets)),
    ]);
    await prepareDatabase(plan);
    await migrateBoth(processes, plan);
    const partners = demoPartners(plan.demoPartner.url);
    const url = postgresUrl(ports.postgres, 'postgres', secrets.postgresSuperuser, database);
    await withClient(url, (client) => seedDemoData(client, partners));
    const pods = await identityPods(plan, identities);
    const callers = [catalogMember(plan), gatewayMember(plan)];
    await Promise.all([
      ...pods.map(({ member }) => up(member)),
      ...callers.map((member) => up(withEnvironment(member, balanced(pods)))),
    ]);
    return {
      pods,
      stack: describeStack(plan, { partners, people: demoPeople }, [
        ...running.values(),
      ]) as unknown as StackFile,
      logs: run.logs,
      kill: async (name) => {
        const { running: program } = part(running, name);
        signalAll(program.pid, 'SIGKILL');
        await program.exited;
      },
      start: (name) => up(part(running, name)),
      pause: (name) => signalAll(part(running, name).running.pid, 'SIGSTOP'),
      resume: (name) => signalAll(part(running, name).running.pid, 'SIGCONT'),
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error(`The system under test (${basename(home)}) did not start.`, { cause: error });
  }
}

function withEnvironment(member: Member, environment: Readonly<Record<string, string>>): Member {
  if (member.program.rank === 2) return member;
  return {
    ...member,
    program: { ...member.program, environment: { ...member.program.environment, ...environment } },
  };
}

function part(running: ReadonlyMap<string, RunningMember>, name: PartName): RunningMember {
  const member = running.get(name);
  if (!member) throw new Error(`${name} is no part of the system under test.`);
  return member;
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
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
