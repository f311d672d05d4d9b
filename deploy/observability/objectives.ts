// What an installation promises (service level objectives), and the alerts that fire when it uses up too fast what may go
// wrong: several burn rates, each over a long and a short window (Google's SRE workbook, "Alerting on SLOs").
import { catalogMetrics } from '../../services/design-catalog/src/metrics.ts';
import { connectionClosed, gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import type { Alert, Recording } from './alert.ts';
import { release, scope, series } from './promql.ts';

export interface Objective {
  /** As in the name of its alert: `TokenAvailability`. */
  readonly name: string;
  /** What is promised, in one sentence without the share. */
  readonly about: string;
  /** What may be few: `token requests`, and what is wrong with them: `fail`. */
  readonly subject: string;
  readonly fault: string;
  /** A part of what is asked in 30 days. */
  readonly share: number;
  /** Series that count all of it, and those that went well. */
  readonly all: string;
  readonly good: string;
}

const { requests } = gatewayMetrics;
const { listDuration } = catalogMetrics;

const pages = '=~/authorize|/login|/account|/consent';
/** The latency of a login is that of the password: the other pages are many, and fast. */
const routes = {
  Token: { subject: 'token requests', of: { 'http.route': '/token' }, seconds: 0.5, fast: 0.99 },
  Resource: {
    subject: 'resource requests',
    of: { 'http.route': '=~/api/events|/api/events/:eventId/designs|/userinfo' },
    seconds: 1,
    fast: 0.99,
  },
  Login: {
    subject: 'logins',
    of: { 'http.route': '/login', 'http.request.method': 'POST' },
    seconds: 2.5,
    fast: 0.95,
  },
} as const;

const lists = {
  Small: { items: 'up to 100 items', seconds: 0.1, fast: 0.99 },
  Medium: { items: 'up to 1,000 items', seconds: 0.25, fast: 0.99 },
  Large: { items: 'more than 1,000 items', seconds: 1, fast: 0.95 },
} as const;

/** A connection that its client closed before the answer says nothing about the service. */
const taken = { 'error.type': `!=${connectionClosed}` };
const answered = { ...taken, 'http.response.status_code': '!~5..' };

export const objectives: readonly Objective[] = [
  ...Object.entries(routes).flatMap(([name, { subject, of, seconds, fast }]): Objective[] => {
    const [what, where] = name === 'Login' ? ['login pages', { 'http.route': pages }] : [subject, of];
    return [
      {
        name: `${name}Availability`,
        about: `${what} answered with a status below 500`,
        subject: what,
        fault: 'fail',
        share: 0.999,
        all: series(requests, { ...where, ...taken }),
        good: series(requests, { ...where, ...answered }),
      },
      {
        name: `${name}Latency`,
        about: `${subject} answered within ${seconds} s, of those that did not fail`,
        subject,
        fault: `take longer than ${seconds} s`,
        share: fast,
        all: series(requests, { ...of, ...answered }),
        good: series(requests, { ...of, ...answered }, { le: seconds }),
      },
    ];
  }),
  ...Object.entries(lists).map(([name, { items, seconds, fast }]) => ({
    name: `${name}ListLatency`,
    about: `lists of ${items} read from Postgres within ${seconds} s`,
    subject: `lists of ${items}`,
    fault: `take longer than ${seconds} s`,
    share: fast,
    all: series(listDuration, { size: name.toLowerCase() }),
    good: series(listDuration, { size: name.toLowerCase() }, { le: seconds }),
  })),
];

/** Speed at which what may go wrong in 30 days is used up: at 14.4, in two days. */
const burns = {
  critical: [
    { rate: 14.4, long: '1h', short: '5m' },
    { rate: 6, long: '6h', short: '30m' },
  ],
  warning: [
    { rate: 3, long: '1d', short: '2h' },
    { rate: 1, long: '3d', short: '6h' },
  ],
} as const;
/** Fewer in the long window are chance: one failure of twenty calls in a night raises no alert. */
const fewest = 10;

const windows = Object.values(burns).flatMap((steps) => steps.flatMap(({ long, short }) => [short, long]));

/** How much was asked in a window, and how much of it went wrong. */
const asked = 'course_exchange:objective_requests:increase';
const wrong = 'course_exchange:objective_errors:increase';

/** The share that went wrong; `matchers` as a selector. */
export function errorShare(window: string, matchers: string): string {
  return `${wrong}${window}{${matchers}} / ${asked}${window}{${matchers}}`;
}

function within(counted: string, window: string): string {
  return `sum by (${release}) (increase(${counted}[${window}]))`;
}

function matchersOf(objective: string): string {
  return `${scope},objective="${objective}"`;
}

/** In the order in which they build on one another. */
export const recordings: readonly Recording[] = objectives.flatMap(({ name, all, good }) =>
  [...new Set(windows)].flatMap((window) => {
    const total = `${asked}${window}{${matchersOf(name)}}`;
    // There is no such series until something went well.
    const well = `(${within(good, window)} or on (${release}) 0 * ${total})`;
    return [
      { record: asked + window, expr: within(all, window), labels: { objective: name } },
      { record: wrong + window, expr: `${total} - on (${release}) ${well}`, labels: { objective: name } },
    ];
  }),
);

export const objectiveAlerts: readonly Alert[] = objectives.flatMap(({ name, subject, fault, share }) =>
  (['critical', 'warning'] as const).map((severity) => ({
    alert: `CourseExchange${name}`,
    severity,
    expr: burns[severity].map((burn) => burning({ name, share }, burn)).join('\nor\n'),
    labels: { objective: name },
    summary: `${percent(1 - share)} % of ${subject} may ${fault}; in the last ${
      severity === 'critical' ? 'hours' : 'days'
    }, {{ $value | humanizePercentage }} did.`,
  })),
);

type Burn = (typeof burns)[keyof typeof burns][number];

function burning({ name, share }: Pick<Objective, 'name' | 'share'>, { rate, long, short }: Burn): string {
  const limit = Number((rate * (1 - share)).toPrecision(6));
  const over = (window: string) => `${errorShare(window, matchersOf(name))} > ${limit}`;
  return `(\n  ${over(long)}\n  and ${over(short)}\n  and ${wrong}${long}{${matchersOf(name)}} > ${fewest}\n)`;
}

export function percent(share: number): number {
  return Number((share * 100).toPrecision(4));
}
