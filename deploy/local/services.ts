// The processes of the stack: the stores, the three services and the demo partner, each with its environment.
import { join } from 'node:path';
import { demoPartner } from './demo-accounts.ts';
import type { StackPlan, StorePlan } from './plan.ts';
import { databaseUrl, postgresComponent } from './postgres.ts';
import type { Component, Program } from './processes.ts';
import { redisComponent, redisUrl } from './redis.ts';
import { cacheDirectory, checkout } from './run-directory.ts';
import { ask, passedToServices } from './shell.ts';

export async function storeComponents(plan: StorePlan): Promise<readonly [Component, Component]> {
  return [await postgresComponent(plan), await redisComponent(plan)];
}

export function serviceComponents(plan: StackPlan) {
  const { run, ports, secrets, issuer, demoPartnerUrl } = plan;
  const partner = demoPartner(demoPartnerUrl);
  const identityTarget = { IDENTITY_TARGET: `127.0.0.1:${ports.identity}` };
  return {
    identity: service(plan, 'identity', 'RPC', {
      ENVIRONMENT: 'test',
      POSTGRES_URL: databaseUrl(plan, 'identity_rw'),
      REDIS_URL: redisUrl(ports.redis, secrets.redisIdentity, 'identity'),
      OPERATOR_POSTGRES_URL: databaseUrl(plan, 'identity_operator'),
      OPERATOR_SOCKET: join(run.sockets, 'identity-operator'),
      KEY_ENCRYPTION_KEY: secrets.keyEncryption,
      USER_HASH_KEY: secrets.userHash,
    }),
    'design-catalog': service(plan, 'design-catalog', 'RPC', {
      ...identityTarget,
      POSTGRES_URL: databaseUrl(plan, 'catalog_ro'),
      FEED_POSTGRES_URL: databaseUrl(plan, 'catalog_feed'),
      FEED_SOCKET: join(run.sockets, 'design-catalog-feed'),
      USER_HASH_KEY: secrets.userHash,
    }),
    gateway: service(plan, 'gateway', 'HTTP', {
      ...identityTarget,
      CATALOG_TARGET: `127.0.0.1:${ports['design-catalog']}`,
      // A TLS proxy in front of a local stack runs on this machine.
      TRUSTED_PROXIES: issuer.startsWith('https:') ? '127.0.0.0/8,::1/128' : '',
      LINK_PASSWORD_RESET: 'https://example.com/reset-password',
      LINK_PRIVACY: 'https://example.com/privacy',
      LINK_SUPPORT: 'mailto:support@example.com',
    }),
    'demo-partner': service(plan, 'demo-partner', 'HTTP', {
      PUBLIC_URL: demoPartnerUrl,
      CLIENT_ID: partner.clientId,
      CLIENT_SECRET: partner.clientSecret,
      SCOPES: partner.scopes.join(' '),
      TOKEN_ENCRYPTION_KEY: secrets.partnerTokenEncryption,
      DATABASE_FILE: join(run.data, 'demo-partner.sqlite'),
    }),
  };
}

function service(
  plan: StackPlan,
  name: 'identity' | 'design-catalog' | 'gateway' | 'demo-partner',
  listens: 'RPC' | 'HTTP',
  environment: Readonly<Record<string, string>>,
): Component {
  const port = plan.ports[name];
  const healthPort = plan.ports[`${name}-health`];
  const http = name === 'demo-partner' ? plan.demoPartnerUrl : `http://127.0.0.1:${port}`;
  const program = nodeProgram(plan, name, `${name}/src/main.ts`, {
    [`${listens}_HOST`]: '127.0.0.1',
    [`${listens}_PORT`]: String(port),
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: String(healthPort),
    SHUTDOWN_DELAY_MS: '0',
    ISSUER: plan.issuer,
    ...(plan.observeUrl !== undefined && observedBy(plan.observeUrl)),
    ...environment,
  });
  return {
    program: { ...program, arguments: [...(plan.watch ? watchFlags(name) : []), ...program.arguments] },
    address: listens === 'HTTP' ? http : `127.0.0.1:${port}`,
    problem: () => healthProblem(healthPort),
  };
}

/** Node itself restarts the program when one of these files is saved. */
function watchFlags(name: string): readonly string[] {
  const imported = name === 'demo-partner' ? [] : ['proto', 'services/rules/src', 'services/runtime/src'];
  return [`services/${name}/src`, ...imported].map((path) => `--watch-path=${join(checkout, path)}`);
}

function observedBy(url: string): Readonly<Record<string, string>> {
  return {
    OTEL_SDK_DISABLED: 'false',
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '300',
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_METRICS_EXPORTER: 'prometheus',
  };
}

/** As in the images (docs/cost.md). No source maps: stripping types moves no line. */
export const heapFlags = ['--max-semi-space-size=16', '--initial-old-space-size=128'];

export function nodeProgram(
  { run, observeUrl }: Pick<StackPlan, 'run' | 'observeUrl'>,
  name: string,
  entry: string,
  environment: Readonly<Record<string, string>>,
): Program {
  return {
    name,
    command: process.execPath,
    arguments: [...heapFlags, join(checkout, 'services', entry)],
    environment: {
      LOG_LEVEL: 'info',
      STOP_WITH_PARENT: 'true',
      MALLOC_ARENA_MAX: '2',
      // No process loads what strips types after the first start: 18 MiB each.
      NODE_COMPILE_CACHE: join(cacheDirectory(), 'compiled'),
      ...passedToServices(observeUrl !== undefined).environment,
      ...environment,
    },
    directory: checkout,
    logFile: join(run.logs, `${name.replaceAll(' ', '-')}.log`),
    stopSignal: 'SIGTERM',
    rank: name === 'demo-partner' ? 0 : 1,
  };
}

/** A service bounds its checks to 700 ms: its sentences are read while its stores hang. */
const healthTimeoutMs = 3_000;

async function healthProblem(port: number): Promise<string | undefined> {
  try {
    const { ok, body } = await ask(`http://127.0.0.1:${port}/healthz`, healthTimeoutMs);
    if (ok) return undefined;
    const { checks, phase } = JSON.parse(body) as { checks?: Record<string, string>; phase?: string };
    const sentences = Object.values(checks ?? {}).map((sentence) => `${sentence}.`);
    return sentences.join(' ') || `It is ${phase}.`;
  } catch {
    return 'It does not answer.';
  }
}
