// GET and HEAD /assets/{name}: the stylesheet of the pages.
import { Failure } from '@course-exchange/runtime/failure';
import { stylesheet, stylesheetName } from '../pages/stylesheet.ts';
import type { Route } from './route.ts';

/** While versions change, a page of one pod asks another for its stylesheet: ours is better than none. */
const anyVersion = /^pages-[A-Za-z0-9_-]{16}\.css$/;

export function getStylesheet(): Route {
  return {
    method: 'GET',
    path: '/assets/:name',
    surface: 'public',
    head: true,
    answer: async ({ params: { name = '' } }) => {
      if (!anyVersion.test(name)) throw new Failure('not_found');
      const own = name === stylesheetName;
      const headers = {
        'content-type': 'text/css; charset=utf-8',
        'cache-control': own ? 'public, max-age=31536000, immutable' : 'no-store',
      };
      return { status: 200, headers, cookies: [], body: stylesheet };
    },
  };
}
