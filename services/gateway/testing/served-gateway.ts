// A real gateway on a real socket for the tests, with stand-ins for identity and design-catalog that speak
// gRPC on the wire and answer what a test tells them to.
import type { AddressInfo } from 'node:net';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { errorStatuses } from '@course-exchange/proto/error-codes';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { carryContextAcrossAwaits } from '@course-exchange/runtime/call-context';
import { createLogger } from '@course-exchange/runtime/logger';
import { type Handlers, served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { type AppOptions, createApp } from '../src/app.ts';
import { allRoutes } from '../src/routes/all-routes.ts';
import type { Site } from '../src/routes/site.ts';
import { createCookies } from '../src/wire/cookies.ts';
import { connectServices } from '../src/wire/services.ts';
import { type CannedAnswers, cannedAnswers } from './canned-answers.ts';

export interface ServedGateway {
  readonly origin: string;
  readonly port: number;
  /** Log lines so far. */
  readonly lines: readonly string[];
  readonly close: () => Promise<void>;
}

export interface ServedOptions extends Partial<Pick<AppOptions, 'issuer' | 'trustedProxies' | 'budgetMs'>> {
  readonly answers?: Partial<CannedAnswers>;
  readonly links?: Partial<Site['links']>;
}

export async function serveGateway(options: ServedOptions = {}): Promise<ServedGateway> {
  carryContextAcrossAwaits();
  const lines: string[] = [];
  let made = 0;
  const logger = createLogger('gateway', 'debug', (line) => lines.push(line));
  const rpc = await serveRpc({
    services: standIns({ ...cannedAnswers, ...options.answers }),
    errorStatuses,
    logger: createLogger('stand-in', 'error'),
    address: '127.0.0.1:0',
  });
  const target = `127.0.0.1:${rpc.port}`;
  const services = connectServices({ identity: target, catalog: target, timeoutMs: 10_000 });
  const issuer = options.issuer ?? 'http://127.0.0.1';
  const none = { passwordReset: undefined, privacy: undefined, imprint: undefined, support: undefined };
  const site: Site = {
    authorization: services.authorization,
    cookies: createCookies(issuer),
    links: { ...none, ...options.links },
    loginBudgetMs: 10_000,
    now: Date.now,
  };
  const app = createApp(allRoutes(services, site), {
    issuer,
    logger,
    budgetMs: options.budgetMs ?? 1_800,
    trustedProxies: options.trustedProxies ?? [],
    now: Date.now,
    makeRequestId: () => `00000000-0000-4000-8000-${String(made++).padStart(12, '0')}`,
  });
  await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
  const { port } = app.server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    lines,
    close: async () => {
      await app.close();
      services.close();
      await rpc.stop(100);
    },
  };
}

function standIns(answers: CannedAnswers) {
  return [
    served(AuthorizationService, pick<typeof AuthorizationService>(answers)),
    served(TokenService, pick<typeof TokenService>(answers)),
    served(DiscoveryService, pick<typeof DiscoveryService>(answers)),
    served(CatalogService, pick<typeof CatalogService>(answers)),
  ];
}

function pick<S extends Parameters<typeof served>[0]>(answers: CannedAnswers): Handlers<S> {
  return answers as unknown as Handlers<S>;
}
