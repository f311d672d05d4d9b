// A Prometheus that scrapes a running system every second and evaluates rules.
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { job } from '@course-exchange/observability/promql';
import { until } from '../stores/redis-servers.ts';
import { send } from '../support/http.ts';
import { findProgram } from '../support/programs.ts';
import type { StackFile } from '../support/stack-file.ts';

type Labels = Readonly<Record<string, string>>;

export interface AlertNow {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: 'pending' | 'firing';
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** Resolves when it has scraped every service. */
export async function startPrometheus(addresses: StackFile['addresses'], rules: string) {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const { prometheus: port } = await choosePorts(['prometheus'], {}, []);
  writeFileSync(join(folder, 'rules.yaml'), rules);
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
  const { command } = await findProgram('prometheus');
  const server = spawn(command, words, { stdio: ['ignore', log, log] });

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
