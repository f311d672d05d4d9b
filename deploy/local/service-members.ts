// The three services and the demo partner as members of the stack: their environment, and when they answer.
import { join } from 'node:path';
import { discoveryProblem, pageProblem, readinessProblem } from './answers.ts';
import { postgresUrl } from './embedded-postgres.ts';
import { redisUrl } from './embedded-redis.ts';
import type { Member } from './members.ts';
import type { Program } from './processes.ts';
import { checkout, type RunDirectory } from './run-directory.ts';
import type { StackSecrets } from './secrets.ts';
import { database } from './store-members.ts';

export const portNames = [
  'postgres',
  'redis',
  'identity',
  'identity-health',
  'identity-operator',
  'design-catalog',
  'design-catalog-health',
  'design-catalog-feed',
  'gateway-health',
  'demo-partner',
  'demo-partner-health',
] as const;

export interface StackPlan {
  readonly run: RunDirectory;
  readonly secrets: StackSecrets;
  readonly ports: Readonly<Record<(typeof portNames)[number] | 'gateway', number>>;
  readonly issuer: string;
  readonly demoPartner: {
    readonly url: string;
    readonly clientId: string;
    readonly clientSecret: string;
    readonly scopes: readonly string[];
  };
}

/** A service's own program (`entry` is its path below `services`). */
export function nodeProgram(
  { run }: Pick<StackPlan, 'run'>,
  name: string,
  entry: string,
  environment: Readonly<Record<string, string>>,
): Program {
  return {
    name,
    command: process.execPath,
    arguments: ['--enable-source-maps', join(checkout, 'services', entry)],
    environment: { ...inherited(), LOG_LEVEL: 'info', STOP_WITH_PARENT: 'true', ...environment },
    directory: checkout,
    logFile: join(run.logs, `${name.replaceAll(' ', '-')}.log`),
    stopSignal: 'SIGTERM',
    rank: name === 'demo-partner' ? 0 : 1,
  };
}

/** The caller may set these for all services. */
function inherited(): Record<string, string> {
  const names = [
    'PATH',
    'TZ',
    'NODE_EXTRA_CA_CERTS',
    'LOG_LEVEL',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_TRACES_SAMPLER_ARG',
  ];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] ? [[name, process.env[name] as string]] : [])),
  );
}

function service(
  plan: StackPlan,
  name: 'identity' | 'design-catalog' | 'gateway',
  environment: Record<string, string>,
): Member {
  const port = plan.ports[name];
  const healthPort = plan.ports[`${name}-health`];
  const where = name === 'gateway' ? 'HTTP' : 'RPC';
  return {
    program: nodeProgram(plan, name, `${name}/src/main.ts`, {
      [`${where}_HOST`]: '127.0.0.1',
      [`${where}_PORT`]: String(port),
      HEALTH_HOST: '127.0.0.1',
      HEALTH_PORT: String(healthPort),
      SHUTDOWN_DELAY_MS: '0',
      ISSUER: plan.issuer,
      ...environment,
    }),
    address: name === 'gateway' ? `http://127.0.0.1:${port}` : `127.0.0.1:${port}`,
    problem: () => readinessProblem(healthPort),
  };
}

export function identityMember(plan: StackPlan): Member {
  const { ports, secrets } = plan;
  return service(plan, 'identity', {
    ENVIRONMENT: 'test',
    POSTGRES_URL: postgresUrl(ports.postgres, 'identity_rw', secrets.identityReadWrite, database),
    REDIS_URL: redisUrl(ports.redis, secrets.redis),
    OPERATOR_POSTGRES_URL: postgresUrl(
      ports.postgres,
      'identity_operator',
      secrets.identityOperator,
      database,
    ),
    OPERATOR_PORT: String(ports['identity-operator']),
    KEY_ENCRYPTION_KEY: secrets.keyEncryption,
    USER_HASH_KEY: secrets.userHash,
  });
}

export function catalogMember(plan: StackPlan): Member {
  const { ports, secrets } = plan;
  return service(plan, 'design-catalog', {
    POSTGRES_URL: postgresUrl(ports.postgres, 'catalog_ro', secrets.catalogReadOnly, database),
    FEED_POSTGRES_URL: postgresUrl(ports.postgres, 'catalog_feed', secrets.catalogFeed, database),
    FEED_PORT: String(ports['design-catalog-feed']),
    IDENTITY_TARGET: `127.0.0.1:${ports.identity}`,
    USER_HASH_KEY: secrets.userHash,
  });
}

/** Answers when it is ready and its discovery document names the issuer. */
export function gatewayMember(plan: StackPlan): Member {
  const { ports, issuer } = plan;
  const member = service(plan, 'gateway', {
    IDENTITY_TARGET: `127.0.0.1:${ports.identity}`,
    CATALOG_TARGET: `127.0.0.1:${ports['design-catalog']}`,
    // A TLS proxy in front of a local stack runs on this machine.
    TRUSTED_PROXIES: issuer.startsWith('https:') ? '127.0.0.0/8,::1/128' : '',
  });
  return {
    ...member,
    problem: async () => (await member.problem()) ?? (await discoveryProblem(ports.gateway, issuer)),
  };
}

export function demoPartnerMember(plan: StackPlan): Member {
  const { ports, secrets, issuer, demoPartner } = plan;
  return {
    program: nodeProgram(plan, 'demo-partner', 'demo-partner/src/main.ts', {
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(ports['demo-partner']),
      HEALTH_HOST: '127.0.0.1',
      HEALTH_PORT: String(ports['demo-partner-health']),
      PUBLIC_URL: demoPartner.url,
      ISSUER: issuer,
      CLIENT_ID: demoPartner.clientId,
      CLIENT_SECRET: demoPartner.clientSecret,
      SCOPES: demoPartner.scopes.join(' '),
      TOKEN_ENCRYPTION_KEY: secrets.partnerTokenEncryption,
      DATABASE_FILE: join(plan.run.data, 'demo-partner.sqlite'),
    }),
    address: demoPartner.url,
    problem: () => pageProblem(ports['demo-partner']),
  };
}
