import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { objectives } from './objectives.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/routes.md'), 'utf8');
const paths = [...page.matchAll(/^\| `(\/[^`]+)` \|/gm)].map(([, path = '']) => path);

/** No objective: partners cache the documents for minutes, and the others are not needed to log in or to read. */
const unpromised = [
  '/.well-known/openid-configuration',
  '/.well-known/jwks.json',
  '/cancel',
  '/sign-out',
  '/assets/:name',
];

test('every route has an objective of its availability, or is named here', () => {
  const promised = objectives
    .filter(({ name }) => name.endsWith('Availability'))
    .flatMap(({ all }) => /http_route=~?"([^"]+)"/.exec(all)?.[1]?.split('|') ?? []);
  expect([...promised, ...unpromised].toSorted()).toEqual(paths.toSorted());
});
