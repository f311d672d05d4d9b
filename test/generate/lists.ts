// What the gateway answers, and lists of the repository itself: decisions, suites and scenarios of the rehearsal.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, errorStatuses } from '@course-exchange/rules/error-codes';
import { duties } from '@course-exchange/testcontainers/rehearsal/duties';
import { scenarios } from '@course-exchange/testcontainers/rehearsal/scenarios';
import { createCookies } from '../../services/gateway/src/http/cookies.ts';
import { errorReply } from '../../services/gateway/src/http/errors.ts';
import type { Route } from '../../services/gateway/src/http/route.ts';
import { allRoutes } from '../../services/gateway/src/routes/all-routes.ts';
import { connectServices } from '../../services/gateway/src/services.ts';
import { redirectedErrors } from '../../services/identity/src/authorize/response.ts';
import { root } from '../check/step.ts';
import { suites } from '../vitest.config.ts';
import { code, type Part, table, tableWithProse } from './page.ts';

export const routesPart: Part = (before) => {
  const paths = Map.groupBy(routesOfGateway(), ({ path }) => path);
  const rows = [...paths].map(([path, routes]) => {
    const methods = routes.flatMap(({ method, head }) => [method, ...(head ? ['HEAD'] : [])]);
    return [code(path), methods.join(', '), [...new Set(routes.map(({ profile }) => profile))].join(', ')];
  });
  return tableWithProse(before, ['path', 'methods', 'read by', 'what it answers'], rows);
};

/** The gateway's own list; its clients connect when they are called, which never happens here. */
function routesOfGateway(): readonly Route[] {
  const nowhere = { identity: '127.0.0.1:1', catalog: '127.0.0.1:1', timeoutMs: 1, now: () => 0 };
  const services = connectServices(nowhere);
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

export const errorsPart: Part = (before) => {
  const errors = Object.entries(errorStatuses) as [ErrorCode, unknown][];
  const rows = errors.map(([error, status]) => [code(error), String(status), httpStatus(error)]);
  return tableWithProse(before, ['error', 'gRPC', 'HTTP', 'who answers it, and when'], rows);
};

/** The status on the token endpoint and, where it is another, on the authorization endpoint. */
function httpStatus(error: ErrorCode): string {
  const [token, page] = (['token', 'page'] as const).map((profile) => errorReply(error, profile, undefined));
  if (error === 'access_denied') return 'by redirect alone';
  if (token?.status !== page?.status) return `${token?.status}; authorization endpoint ${page?.status}`;
  return `${token?.status}${token?.headers['retry-after'] ? ' with `Retry-After`' : ''}`;
}

const named = (names: readonly string[]) => names.map((name) => [code(name)]);

export const redirectsPart: Part = (before) =>
  tableWithProse(before, ['error', 'when'], named(redirectedErrors));

const decisions = join(root, 'docs/decisions');

export const decisionsPart: Part = () =>
  readdirSync(decisions)
    .flatMap((file) => {
      const text = readFileSync(join(decisions, file), 'utf8');
      const headings = text.matchAll(/^##? (?:<a id="\d+"><\/a>)?(\d{4}) (.+)$/gm);
      return [...headings].map(([, number, title]) => `- [${number} ${title}](${file}#${number})`);
    })
    .sort()
    .join('\n');

export const suitesPart: Part = (before) =>
  tableWithProse(before, ['suite', 'what it proves', 'needs'], named(Object.keys(suites)));

export const dutiesPart: Part = () => {
  const rows = Object.entries(duties).map(([duty, { section, sentence }]) => {
    const target = section.startsWith('R')
      ? `rulings.md#${section}`
      : `specification.md#${section.split('.')[0]}`;
    return [code(duty), sentence, `[${section}](${target})`];
  });
  return table(['duty', 'requirement', 'clause'], rows);
};

export const scenariosPart: Part = () => {
  const rows = Object.entries(scenarios).map(([name, { duty, play, expectation }]) => {
    return [code(name), play, expectation, code(duty)];
  });
  return table(['scenario', 'what happens', 'expected', 'duty'], rows);
};
