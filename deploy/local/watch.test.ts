// `start --watch`: what a service is made of restarts it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from './run-directory.ts';
import { folders } from './watch.ts';

test.each(['gateway', 'identity', 'design-catalog'])(
  'a saved file that %s imports restarts it',
  (service) => {
    const { dependencies } = JSON.parse(
      readFileSync(join(checkout, 'services', service, 'package.json'), 'utf8'),
    ) as { readonly dependencies: Readonly<Record<string, string>> };
    const imported = Object.keys(dependencies).flatMap(
      (name) => /^@course-exchange\/(.+)$/.exec(name)?.[1] ?? [],
    );
    const watched = folders.flatMap(([folder, restarted]) => (restarted.includes(service) ? [folder] : []));
    expect(watched.sort()).toEqual(
      [service, ...imported].map((name) => (name === 'proto' ? name : `services/${name}/src`)).sort(),
    );
  },
);
