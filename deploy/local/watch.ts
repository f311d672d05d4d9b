// Watches the sources of the services for `start --watch`: a saved file belongs to its service; one of the runtime or of
// proto/ belongs to all that import it.
import { watch } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './run-directory.ts';

const services = ['identity', 'design-catalog', 'gateway'];
const folders: readonly (readonly [folder: string, restarted: readonly string[]])[] = [
  ['proto', services],
  ['services/runtime/src', services],
  ...[...services, 'demo-partner'].map((name) => [`services/${name}/src`, [name]] as const),
];

/** What a process reads of its sources: no tests, and none of the files that editors write beside them. */
const source = /^(?!.*\.test\.ts$).*\.(ts|css|lua|svg)$/;
/** Saving writes a file in several steps, and a formatter may write it again. */
const quietMs = 60;

export function watchSources(onSave: (name: string) => void): void {
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    for (const name of pending) onSave(name);
    pending.clear();
  };
  for (const [folder, names] of folders) {
    watch(join(checkout, folder), { recursive: true, persistent: false }, (_, file) => {
      if (file === null || !source.test(file)) return;
      for (const name of names) pending.add(name);
      clearTimeout(timer);
      timer = setTimeout(flush, quietMs);
    });
  }
}
