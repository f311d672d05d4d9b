// Finds Prometheus and promtool: on PATH, else in Debian's package, unpacked into the cache.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cacheDirectory } from '@course-exchange/local-stack/cache';
import { unpackDebianPackage } from '@course-exchange/local-stack/debian-package';

export interface PrometheusPrograms {
  readonly PROMETHEUS: string;
  readonly PROMTOOL: string;
}

/** Undefined where there is neither, nor apt or the network to fetch it. */
export async function findPrometheus(): Promise<PrometheusPrograms | undefined> {
  const home = join(cacheDirectory(), 'debian-prometheus');
  const found = programsIn('') ?? programsIn(join(home, 'usr/bin/'));
  if (found !== undefined) return found;
  await unpackDebianPackage(home, ['prometheus']);
  return programsIn(join(home, 'usr/bin/'));
}

function programsIn(folder: string): PrometheusPrograms | undefined {
  const [PROMETHEUS, PROMTOOL] = [`${folder}prometheus`, `${folder}promtool`];
  const runs = (program: string) => spawnSync(program, ['--version'], { timeout: 10_000 }).status === 0;
  return runs(PROMETHEUS) && runs(PROMTOOL) ? { PROMETHEUS, PROMTOOL } : undefined;
}
