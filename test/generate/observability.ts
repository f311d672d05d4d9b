// What the product reports about itself, as tables: metrics, span attributes, log and security events in docs/telemetry.md;
// objectives and alerts in docs/on-call.md.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectives, percent } from '@course-exchange/observability/objectives';
import { alerts } from '@course-exchange/observability/rules';
import type { Metrics } from '@course-exchange/runtime/process/metrics';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { spanAttributes } from '@course-exchange/runtime/process/span-attributes';
import { catalogMetrics } from '../../services/design-catalog/src/metrics.ts';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { securityEvents } from '../../services/identity/src/security-events.ts';
import { root } from '../check/step.ts';
import { code, type Part, table, tableWithProse } from './page.ts';

const processes: Readonly<Record<string, Metrics>> = {
  gateway: gatewayMetrics,
  identity: identityMetrics,
  'design-catalog': catalogMetrics,
  all: runtimeMetrics,
};

export const metricsPart: Part = () =>
  table(
    ['metric', 'kind', 'unit', 'labels', 'process', 'what it is'],
    Object.entries(processes).flatMap(([process, metrics]) =>
      Object.values(metrics).map(({ kind, definition: { name, unit, labels, about } }) => [
        code(name),
        kind,
        code(unit),
        labels.map(code).join(', '),
        process,
        about,
      ]),
    ),
  );

export const objectivesPart: Part = () =>
  table(
    ['objective', 'promised', 'of what is asked in 30 days'],
    objectives.map(({ name, share, about }) => [name, `${percent(share)} %`, about]),
  );

/** A row for each name; what an alert says is in the alert. */
export const alertsPart: Part = () =>
  table(
    ['alert', 'severity', 'for'],
    [...Map.groupBy(alerts, ({ alert }) => alert)].map(([alert, rules]) => [
      `[${alert}](#${alert.toLowerCase()})`,
      rules.map(({ severity }) => severity).join(', '),
      [...new Set(rules.map(({ for: lasting = '' }) => lasting))].join(', '),
    ]),
  );

export const spanAttributesPart: Part = () =>
  table(
    ['attribute', 'spans', 'what it is'],
    Object.entries(spanAttributes).flatMap(([spans, attributes]) =>
      Object.entries(attributes).map(([name, about]) => [code(name), spans, about]),
    ),
  );

/** The message comes first; in the demo partner, after the fields. */
const logged =
  /\b(?:logger|log)\.(debug|info|warn|error|record)\(\s*(?:\{[^}]*\},\s*|describeError\(\w+\),\s*)?'([^']+)'/g;

interface LoggedEvent {
  readonly message: string;
  readonly level: string;
  /** Folders of `services` that log it; `several` for what servers share. */
  readonly by: Set<string>;
}

function loggedEvents(): readonly LoggedEvent[] {
  const events = new Map<string, LoggedEvent>();
  for (const file of globSync('services/*/src/**/*.ts', { cwd: root }).sort()) {
    const [, folder = ''] = file.split('/');
    const ofJobs = /\/(checks|migrate|preflight)\.ts$/.test(file);
    const text = /\.test\.ts$|\/testing\//.test(file) ? '' : readFileSync(join(root, file), 'utf8');
    for (const [, method = '', message = ''] of text.matchAll(logged)) {
      const level = method.replace('record', 'info');
      const event = events.get(`${level} ${message}`) ?? { message, level, by: new Set() };
      event.by.add(ofJobs ? 'migrations' : folder.replace('runtime', 'several'));
      events.set(`${level} ${message}`, event);
    }
  }
  return [...events.values()];
}

export const logEventsPart: Part = (before) => {
  const rows = loggedEvents().map(({ message, level, by }) => [code(message), level, [...by].join(', ')]);
  return tableWithProse(before, ['message', 'level', 'process', 'further fields'], rows, 2);
};

const keyedHash = { type: 'string', pattern: '^[\\w-]{22}$' };
const constantly = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { const: value }]));

/** JSON Schema of a line of the services and their Jobs. The demo partner writes its own. */
export function logEventsSchema(): object {
  const lines = loggedEvents().filter(({ by }) => [...by].some((one) => one !== 'demo-partner'));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A line of the log',
    description: 'Generated. docs/telemetry.md says what each line and field means.',
    type: 'object',
    required: ['time', 'level', 'service', 'message'],
    properties: {
      time: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' },
      service: { type: 'string' },
      requestId: { type: 'string', pattern: '^[A-Za-z0-9._-]{8,64}$' },
      traceId: { type: 'string', pattern: '^[0-9a-f]{32}$' },
      spanId: { type: 'string', pattern: '^[0-9a-f]{16}$' },
      client: { type: 'string' },
      user: keyedHash,
      network: keyedHash,
    },
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    oneOf: lines.map(({ message, level }) => ({ properties: constantly({ message, level }) })),
    if: { properties: constantly({ message: 'security event' }) },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
    then: {
      required: ['event'],
      oneOf: Object.entries(securityEvents).map(([event, reasons]) => ({
        properties: { ...constantly({ event }), reason: reasons.length === 0 ? false : { enum: reasons } },
        ...(reasons.length === 0 ? {} : { required: ['reason'] }),
      })),
    },
  };
}

export const securityEventsPart: Part = (before) =>
  tableWithProse(
    before,
    ['event', 'reasons', 'when'],
    Object.entries(securityEvents).map(([event, reasons]) => [code(event), reasons.map(code).join(', ')]),
  );
