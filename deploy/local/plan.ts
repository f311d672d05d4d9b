// Decides where everything shall listen: ports of the run before where they are free, else new ones.
import { existsSync, readFileSync } from 'node:fs';
import type { StartOptions } from './arguments.ts';
import { demoPartnerClientId, demoPartners } from './demo-partners.ts';
import { choosePorts, isFree } from './free-ports.ts';
import { StartFailure } from './members.ts';
import { commandFor, eraseData, type RunDirectory, writeWhole } from './run-directory.ts';
import { loadSecrets } from './secrets.ts';
import { portNames, type StackPlan } from './service-members.ts';

/** Rejects when the gateway's port is taken; only then does --reset delete the data of the run directory. */
export async function makePlan(run: RunDirectory, options: StartOptions): Promise<StackPlan> {
  const ports = await planPorts(run, options);
  if (options.reset) eraseData(run);
  return planStack(run, options, ports);
}

/** Writes down the choice. */
async function planPorts(run: RunDirectory, options: StartOptions): Promise<StackPlan['ports']> {
  const before = portsBefore(run);
  const { gateway } = options.port === 0 ? await choosePorts(['gateway'], before) : { gateway: options.port };
  if (!(await isFree(gateway))) {
    throw new StartFailure(
      `Port ${gateway} is taken by another program. Choose another one: ${commandFor(run, 'start')} --port ${gateway + 1}`,
    );
  }
  const ports = { ...(await choosePorts(portNames, before, [gateway])), gateway };
  writeWhole(run.portsFile, ports);
  return ports;
}

function planStack(run: RunDirectory, options: StartOptions, ports: StackPlan['ports']): StackPlan {
  const url = `http://localhost:${ports['demo-partner']}`;
  const registered = demoPartners(url).find(({ clientId }) => clientId === demoPartnerClientId);
  if (!registered) throw new Error('The demo partner is not among the demo partners.');
  return {
    run,
    secrets: loadSecrets(run),
    ports,
    issuer: options.issuer ?? `http://127.0.0.1:${ports.gateway}`,
    demoPartner: { url, ...registered },
  };
}

function portsBefore({ portsFile }: RunDirectory): Readonly<Record<string, number>> {
  if (!existsSync(portsFile)) return {};
  try {
    return JSON.parse(readFileSync(portsFile, 'utf8')) as Record<string, number>;
  } catch {
    return {};
  }
}
