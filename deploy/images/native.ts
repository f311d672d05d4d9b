// Copies packages that have a compiled part: their scripts and the one binary of this machine's platform.
import { cpSync, readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Puts `packages`, as the package at `from` sees them, below `app`/node_modules. */
export function copyNative(from: string, packages: readonly string[], app: string): void {
  for (const name of packages) {
    const entry = createRequire(join(from, 'package.json')).resolve(name);
    const store = dirname(dirname(realpathSync(dirname(entry))));
    const platform = `${name.split('/')[1]}-${process.platform}-${process.arch}`;
    const scope = join(store, name.split('/')[0] ?? '');
    const binaries = readdirSync(scope).filter((item) => item.startsWith(platform) && !item.includes('musl'));
    if (binaries.length !== 1)
      throw new Error(`${name} has no binary for ${process.platform} ${process.arch}.`);
    for (const item of [name.split('/')[1] ?? '', ...binaries]) {
      cpSync(realpathSync(join(scope, item)), join(app, 'node_modules', name.split('/')[0] ?? '', item), {
        recursive: true,
        filter: (path) => !/\.(md|ts|mts|cts|map)$|browser\.js$/.test(path),
      });
    }
  }
}
