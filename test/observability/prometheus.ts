// A Prometheus of the test's own that scrapes a running system and evaluates the chart's rules, in which an hour is a
// minute. Nothing else of them differs.
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { job } from '@course-exchange/observability/promql';
import { root } from '../check/step.ts';
import { until } from '../stores/redis-servers.ts';
import { send } from '../support/http.ts';
import { findProgram } from '../support/programs.ts';
import type { StackFile } from '../support/stack-file.ts';

const rules = join(root, 'helm/course-exchange/rules/course-exchange.yaml');
const durations = /(\[|\boffset |\bfor: |\binterval: )(\d+)([mhd])\b/g;

type Labels = Readonly<Record<string, string>>;

export interface AlertNow {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: 'pending' | 'firing';
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** `[1h]` becomes `[1m]`, `for: 5m` becomes `for: 5s`. Throws where a duration stands that it does not know. */
function scaled(text: string): string {
  const left = text.replaceAll(durations, '').match(/\b\d+(?:ms|[smhdwy])\b/);
  if (left !== null) throw new Error(`"${left[0]}" in the rules is in no place that is known.`);
  return text.replaceAll(durations, (_, before: string, amount: string, unit: string) => {
    const days = unit === 'd' ? 24 : 1;
    return `${before}${Number(amount) * days}${unit === 'm' ? 's' : 'm'}`;
  });
}

/** Resolves when it has scraped every service. */
export async function startPrometheus(addresses: StackFile['addresses']) {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const { prometheus: port } = await choosePorts(['prometheus'], {}, []);
  writeFileSync(join(folder, 'rules.yaml'), scaled(readFileSync(rules, 'utf8')));
  const static_configs = ['gateway', 'identity', 'design-catalog'].map((component) => ({
    targets: [`${addresses?.[`${component} health`]}`.replace('http://', '')],
    labels: { component },
  }));
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: job, static_configs }],
  };
  writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
  const words = [
    `--config.file=${folder}/prometheus.yaml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const log = openSync(join(folder, 'log'), 'a');
  const server = spawn(await findProgram('prometheus'), words, { stdio: ['ignore', log, log] });

  async function ask<Answer>(path: string): Promise<Answer> {
    const { json, text } = await send(`http://127.0.0.1:${port}/api/v1/${path}`);
    const { status, data } = json();
    if (status !== 'success') throw new Error(text);
    return data as Answer;
  }
  const query = async (expr: string) =>
    (await ask<{ readonly result: readonly unknown[] }>(`query?query=${encodeURIComponent(expr)}`)).result;
  const alerts = async () => (await ask<{ readonly alerts: readonly AlertNow[] }>('alerts')).alerts;
  const stop = () => server.kill();
  const isScraped = async () => (await query('up == 1')).length === static_configs.length;
  await until('every service is scraped', isScraped).catch((error) => {
    stop();
    throw error;
  });
  return { query, alerts, stop };
}
