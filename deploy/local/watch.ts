// Watches the sources of the services for `start --watch`: a saved file belongs to its service; one of the runtime, of the
// rules or of proto/ belongs to all that import it.
import { watch } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './run-directory.ts';

const services = ['identity', 'design-catalog', 'gateway'];
export const folders: readonly (readonly [folder: string, restarted: readonly string[]])[] = [
  ['proto', services],
  ['services/rules/src', services],
  ['services/runtime/src', services],
  ...[...services, 'demo-partner'].map((name) => [`services/${name}/src`, [name]] as const),
];

const source = /^(?!.*\.test\.ts$).*\.(ts|css|lua|svg)$/;
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
