// The stylesheet of the pages, at an address that names its content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { Route } from './http/route.ts';

// The files are beside main.js in an image.
const stylesheet = ['colours.css', 'pages.css']
  .map((name) => readFileSync(join(import.meta.dirname, 'pages', name), 'utf8'))
  .join('');
const contentHash = createHash('sha256').update(stylesheet).digest('base64url').slice(0, 16);
const stylesheetName = `pages-${contentHash}.css`;

export const stylesheetPath = `/assets/${stylesheetName}`;

/** One pod's page may request its stylesheet from another during a roll-out. */
const anyVersion = /^pages-[A-Za-z0-9_-]{16}\.css$/;

export const stylesheetRoute: Route = {
  method: 'GET',
  path: '/assets/:name',
  profile: 'public',
  head: true,
  answer: async ({ params: { name = '' } }) => {
    if (!anyVersion.test(name)) throw new Failure('not_found');
    const headers = {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': name === stylesheetName ? 'public, max-age=31536000, immutable' : 'no-store',
    };
    return { status: 200, headers, cookies: [], body: stylesheet };
  },
};
