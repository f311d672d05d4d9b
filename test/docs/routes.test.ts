import { expect, test } from 'vitest';
import { allRoutes } from '../../services/gateway/src/routes/all-routes.ts';
import type { Route } from '../../services/gateway/src/routes/route.ts';
import { createCookies } from '../../services/gateway/src/wire/cookies.ts';
import { connectServices } from '../../services/gateway/src/wire/services.ts';
import { read, tableRows } from './documents.ts';

/** The gateway's own list; its clients connect when they are called, which nobody does here. */
function routesOfGateway(): readonly Route[] {
  const services = connectServices({ identity: '127.0.0.1:1', catalog: '127.0.0.1:1', timeoutMs: 1 });
  try {
    return allRoutes(services, {
      authorization: services.authorization,
      cookies: createCookies('https://exchange.example'),
      links: { passwordReset: undefined, privacy: undefined, imprint: undefined, support: undefined },
      loginBudgetMs: 1,
      now: () => 0,
    });
  } finally {
    services.close();
  }
}

test('docs/routes.md lists exactly the routes of the gateway, with methods and readers', () => {
  const served = routesOfGateway().flatMap(({ method, path, surface, head }) =>
    [method, ...(head ? ['HEAD'] : [])].map((each) => `${each} ${path} ${surface}`),
  );
  const documented = tableRows(read('docs/routes.md')).flatMap(([methods = '', path = '', reader]) =>
    methods.split(', ').map((method) => `${method} ${path.replaceAll('`', '')} ${reader}`),
  );
  expect(documented.sort()).toEqual(served.sort());
});
