// What one stack is made of: its run directory, secrets, ports and issuer. Ports stay the same while they are free.
import { rmSync } from 'node:fs';
import type { StartOptions } from './arguments.ts';
import { choosePorts } from './free-ports.ts';
import {
  commandFor,
  loadSecrets,
  type RunDirectory,
  readJson,
  type StackSecrets,
  writeWhole,
} from './run-directory.ts';

const portNames = [
  'postgres',
  'redis',
  'identity',
  'identity-health',
  'design-catalog',
  'design-catalog-health',
  'gateway-health',
  'demo-partner',
  'demo-partner-health',
  'observe',
  'rehearsed-gateway',
] as const;

const observed = ['gateway', 'identity', 'design-catalog'] as const;

export function healthAddresses(ports: Readonly<Record<`${(typeof observed)[number]}-health`, number>>) {
  return Object.fromEntries(observed.map((name) => [name, `http://127.0.0.1:${ports[`${name}-health`]}`]));
}

export type StackPlan = Awaited<ReturnType<typeof makePlan>>;

/** Rejects when the gateway's port is taken; only then does --reset delete the data of the run directory. */
export async function makePlan(
  run: RunDirectory,
  options: Pick<StartOptions, 'port'> &
    Partial<Pick<StartOptions, 'reset' | 'issuer' | 'observe' | 'watch' | 'rehearse'>>,
) {
  const ports = await planPorts(run, options.port);
  if (options.reset)
    for (const path of [run.data, run.otherPostgres]) rmSync(path, { recursive: true, force: true });
  return {
    run,
    secrets: loadSecrets(run),
    // A rehearsal's proxy has the issuer's port.
    ports: options.rehearse ? { ...ports, gateway: ports['rehearsed-gateway'] } : ports,
    rehearsal: options.rehearse && { scenario: options.rehearse, port: ports.gateway },
    issuer: options.issuer ?? `http://127.0.0.1:${ports.gateway}`,
    demoPartnerUrl: `http://localhost:${ports['demo-partner']}`,
    watch: options.watch ?? false,
    observeUrl: options.observe ? `http://127.0.0.1:${ports.observe}` : undefined,
  };
}

export interface StorePlan {
  readonly run: Pick<RunDirectory, 'data' | 'logs' | 'otherPostgres'>;
  readonly ports: Readonly<Record<'postgres' | 'redis', number>>;
  readonly secrets: Pick<StackSecrets, 'postgresSuperuser' | 'redis' | 'redisIdentity'>;
  /** Fast, and not safe against a power failure. */
  readonly throwaway?: boolean;
}

async function planPorts(run: RunDirectory, port: number) {
  const before = readJson<Readonly<Record<string, number>>>(run.portsFile, {});
  const wished = port === 0 ? before : { ...before, gateway: port };
  const ports = await choosePorts(['gateway', ...portNames], wished);
  if (port !== 0 && ports.gateway !== port) {
    throw new Error(
      `Port ${port} is taken by another program. Choose another one: ${commandFor(run, 'start')} --port ${port + 1}`,
    );
  }
  writeWhole(run.portsFile, ports);
  return ports;
}
