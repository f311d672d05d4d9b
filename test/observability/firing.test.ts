// A running system that Prometheus scrapes and evaluates with the chart's rules, in which an hour is a minute: three alerts are
// fired by a fault each, nothing fires without one, and what rules and dashboards ask for is there.
import { eventRecordings } from '@course-exchange/observability/events';
import { allPanels } from '@course-exchange/observability/generate';
import { recordings } from '@course-exchange/observability/objectives';
import { alerts } from '@course-exchange/observability/rules';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { read } from '../docs/documents.ts';
import { until } from '../stores/redis-servers.ts';
import { authorizeUrl, type Caller, openCaller, type Tokens, unknownToken } from '../support/flow.ts';
import { callService } from '../support/grpc-client.ts';
import { send } from '../support/http.ts';
import { cloneFamilies } from '../support/load.ts';
import { type System, startSystem } from '../support/system.ts';
import { type AlertNow, type Prometheus, startPrometheus } from './prometheus.ts';

let system: System;
let redis: Redis;
let prometheus: Prometheus;
let caller: Caller;

beforeAll(async () => {
  system = await startSystem();
  redis = new Redis(`${system.stack.redis}`);
  // There is no share of memory without a bound.
  await redis.config('SET', 'maxmemory', '1gb');
  const rules = scaled(read('helm/course-exchange/rules/course-exchange.yaml'));
  prometheus = await startPrometheus(system.stack.addresses, rules);
  caller = await openCaller(system.stack);
});

afterAll(async () => {
  redis?.disconnect();
  await prometheus?.stop();
  await system?.stop();
});

const nameOf = ({ labels }: AlertNow) =>
  `${labels.alertname?.replace('CourseExchange', '')} ${labels.severity}`;
const firing = async () => (await prometheus.alerts()).filter(({ state }) => state === 'firing');
const atOnce = (count: number, work: () => Promise<unknown>) =>
  Promise.allSettled(Array.from({ length: count }, work));

/** Tokens of a system in which all that a person and a partner do succeeds, and nothing fires but what uses up an objective. */
async function whenWell(): Promise<Tokens> {
  let tokens: Tokens | undefined;
  await until('all is well', async () => {
    tokens = await caller.newTokens();
    const { status } = await caller.events(tokens.access_token);
    return status === 200 && (await firing()).every(({ labels }) => labels.objective !== undefined);
  });
  return tokens ?? expect.unreachable();
}

const durations = /(\[|\boffset |\bfor: |\binterval: )(\d+)([mhd])\b/g;

/** `[1h]` becomes `[1m]`, `for: 5m` becomes `for: 5s`. Throws where a duration stands that it does not know. */
function scaled(text: string): string {
  const left = text.replaceAll(durations, '').match(/\b\d+(?:ms|[smhdwy])\b/);
  if (left !== null) throw new Error(`"${left[0]}" in the rules is in no place that is known.`);
  return text.replaceAll(durations, (_, before: string, amount: string, unit: string) => {
    const days = unit === 'd' ? 24 : 1;
    return `${before}${Number(amount) * days}${unit === 'm' ? 's' : 'm'}`;
  });
}

/** As long as a busy machine may take. */
const patient = { timeout: 120_000, interval: 500 };

test('nothing fires while all is well', async () => {
  const { access_token } = await whenWell();
  const use = () => [caller.newTokens(), caller.refresh(unknownToken), caller.events(access_token)];
  const now = async () => {
    await Promise.all([...use(), ...use()]);
    // An objective says nothing of fewer requests.
    const evaluated = await prometheus.query('course_exchange:objective_requests:increase1h > 10');
    return { evaluated: evaluated.length, fire: (await firing()).map(nameOf) };
  };
  // Two of tokens, of resources and of logins, and that of small lists.
  await expect.poll(now, patient).toEqual({ evaluated: 7, fire: [] });
});

interface Fault {
  readonly fires: readonly string[];
  /** Does it, or goes on with it. */
  readonly goOn: (tokens: Tokens) => Promise<unknown>;
  readonly end?: () => void;
}

const faults: Readonly<Record<string, Fault>> = {
  'a Redis that is slow': {
    fires: ['TokenLatency critical', 'TokenLatency warning'],
    goOn: async () => {
      // Half a second is too much for a token, and an operation may take a second.
      await redis.call('CLIENT', 'PAUSE', '700', 'ALL');
      await atOnce(12, () => caller.refresh(unknownToken));
    },
  },
  'a design-catalog that hangs': {
    fires: [
      'ServiceDown critical',
      'ProcessDown warning',
      'ResourceAvailability critical',
      'ResourceAvailability warning',
    ],
    goOn: async ({ access_token }) => {
      system.pause('design-catalog');
      // More than fit.
      await atOnce(300, () => caller.events(access_token));
    },
    end: () => system.resume('design-catalog'),
  },
  'a client whose spent refresh tokens come again': {
    fires: ['TokensReplayed critical'],
    goOn: async ({ refresh_token }) => {
      const families = await cloneFamilies(`${system.stack.redis}`, refresh_token, 6);
      // Each family's head with another secret than its newest.
      const spent = families.map((family) => family.slice(0, 22) + 'B'.repeat(43));
      await Promise.all(spent.map(caller.refresh));
    },
  },
};

test.each(Object.entries(faults))('an alert tells of %s', async (_, { fires, goOn, end }) => {
  const tokens = await whenWell();
  let found: readonly AlertNow[] = [];
  const names = async () => {
    await goOn(tokens);
    found = await firing();
    return found.map(nameOf);
  };
  try {
    await expect.poll(names, patient).toEqual(expect.arrayContaining([...fires]));
  } finally {
    end?.();
  }
  for (const { labels, annotations } of found) {
    expect(labels).toMatchObject({ job: 'course-exchange' });
    expect(annotations.summary).toMatch(/^\S.+\.$/);
    expect(annotations.summary).not.toMatch(/\{\{|<no value>|%!|NaN| {2}/);
    expect(annotations.runbook_url).toBe(`docs/on-call.md#${labels.alertname?.toLowerCase()}`);
  }
});

const chosen = { job: '.+', namespace: '.*', client_id: '.+', __rate_interval: '10m' };
/** Those of the dashboards, with the queries that they ask where everything is chosen. */
const panels = allPanels.map(([title, queries]) => ({
  title,
  queries: queries.map((expr) =>
    Object.entries(chosen).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr),
  ),
}));
const runbook = read('docs/on-call.md');
const runbookQueries = [...runbook.matchAll(/```promql\n([\s\S]+?)\n```/g)].map(([, query = '']) => query);
const asked = [
  ...[...recordings, ...eventRecordings, ...alerts].map(({ expr }) => expr),
  ...panels.flatMap(({ queries }) => queries),
  ...runbookQueries,
]
  // Those of kube-state-metrics are not ours.
  .filter((expr) => !expr.includes('kube_'));

/** Each series with each label that an expression chooses by or keeps, as a query that finds it. */
function wanted(expr: string): readonly string[] {
  const selectors = expr.replaceAll(/\b(?:by|on) \([^)]*\)/g, '');
  const chosen = [
    ...selectors.matchAll(/(?<!")\b((?:(?:course_exchange|http|rpc|db|nodejs)[_:][\w:]+|up)\b)({[^}]*})?/g),
  ];
  const names = chosen.map(([, name]) => name).join('|');
  const kept = [...expr.matchAll(/\bby \(([^)]+)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
  return (
    [
      ...chosen.flatMap(([, name, matchers = '']) => [
        [name, '__name__'],
        ...[...matchers.matchAll(/(\w+)(?:=~|!=|!~|=)"/g)].map(([, label]) => [name, label]),
      ]),
      ...kept.map((label) => [names, label]),
    ]
      // Outside of Kubernetes there is none.
      .filter(([, label]) => label !== 'namespace')
      .map(([name, label]) => `{__name__=~"${name}",${label}!=""}`)
  );
}

/** In the runbook's sentences a histogram has its name without an ending. */
const named = [...runbook.matchAll(/`((?:course_exchange|http|rpc|db|nodejs)_\w+)`/g)].map(
  ([, name]) => `{__name__=~"${name}(_count)?"}`,
);

/** What is refused, each for another reason. */
async function misuse(): Promise<void> {
  const { access_token } = await caller.newTokens();
  const forged = { headers: { authorization: `Bearer ${access_token.replace(/[^.]+$/, 'A'.repeat(86))}` } };
  const { authorization_endpoint, userinfo_endpoint } = caller.discovery;
  await Promise.all([
    send(authorizeUrl(authorization_endpoint, caller.partner, { scope: 'made-up' })),
    ...[userinfo_endpoint, `${system.stack.issuer}/api/events`].map((url) => send(url, forged)),
    caller.refresh(unknownToken),
  ]);
}

/** A call that arrives expired. Most are cancelled before a handler sees them, so it takes several. */
async function callTooLate(): Promise<void> {
  const { access_token } = await caller.newTokens();
  const catalog = callService(CatalogService, `${system.stack.addresses?.['design-catalog']}`);
  const headers = { authorization: `Bearer ${access_token}`, 'grpc-timeout': '1m' };
  await atOnce(10, () => Array.fromAsync(catalog.listEvents({}, { headers })));
}

/** It did not happen, or not recently. */
const mayBeEmpty = ['Grants that ended', 'Refused for overload, or timed out', 'Its secrets expire in'];

test('each series and label that rules, dashboards and the runbook ask for is there', async () => {
  const queries = [...new Set([...asked.flatMap(wanted), ...named])];
  expect([panels.length > 30, runbookQueries.length > 20, queries.length > 100]).toEqual([true, true, true]);
  const isEmpty = async (query: string) => (await prometheus.query(query)).length === 0;
  const missing = async () => {
    await Promise.all([misuse(), callTooLate()]);
    const found: string[] = [];
    for (const query of queries) if (await isEmpty(query)) found.push(query);
    for (const panel of panels)
      if ((await Promise.all(panel.queries.map(isEmpty))).every(Boolean)) found.push(panel.title);
    return found.filter((name) => !mayBeEmpty.includes(name));
  };
  await redis.call('CLIENT', 'PAUSE', '1500', 'ALL');
  await caller.refresh(unknownToken);
  await expect.poll(missing, patient).toEqual([]);
});

test('an alert whose cause is over fires no more', whenWell);
