// What an alert and a recording rule are, and the file that Prometheus reads them from.
import { stringify } from 'yaml';
import { job } from './promql.ts';

export interface Alert {
  /** Also the heading of its section in the runbook. */
  readonly alert: string;
  /** `critical`: somebody has to look now. `warning`: in working hours. */
  readonly severity: 'critical' | 'warning';
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** One sentence; may name labels of the alert, and its value. */
  readonly summary: string;
}

type Written = readonly [name: string, lasting: string, expr: string, summary: string];

export const critical = (...written: Written): Alert => alertOf('critical', written);
export const warning = (...written: Written): Alert => alertOf('warning', written);

/** One that lasts `0m` fires at once. */
function alertOf(severity: Alert['severity'], [name, lasting, expr, summary]: Written): Alert {
  const alert = `CourseExchange${name}`;
  return { alert, severity, expr, ...(lasting === '0m' ? {} : { for: lasting }), summary };
}

export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Group {
  readonly name: string;
  /** How often, where not as often as all others. */
  readonly interval?: string;
  readonly rules: readonly (Alert | Recording)[];
}

/** The chart replaces it with the address at which an installation's people read the page. */
const runbook = 'docs/on-call.md';

export function rulesFile(about: string, groups: readonly Group[]): string {
  const written = groups.map(({ name, rules, ...how }) => ({
    name: `${job}-${name}`,
    ...how,
    rules: rules.map(ruleOf),
  }));
  const text = stringify({ groups: written }, { lineWidth: 0, blockQuote: 'literal' });
  return `# ${about} Generated from deploy/observability.\n${text}`;
}

function ruleOf(rule: Alert | Recording): object {
  if ('record' in rule) return rule;
  const { severity, labels, summary, ...evaluated } = rule;
  const runbook_url = `${runbook}#${rule.alert.toLowerCase()}`;
  return { ...evaluated, labels: { severity, ...labels }, annotations: { summary, runbook_url } };
}
