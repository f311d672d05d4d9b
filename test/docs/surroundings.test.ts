import { expect, test } from 'vitest';
import { filesOfProject, read } from './documents.ts';

// Put together from parts, so that this file may be looked at too.
const outside: readonly (readonly [string, RegExp])[] = [
  [
    'a directory of one machine',
    new RegExp(`(?<![\\w.~-])/(?:${['home', 'root', 'work', 'Users'].join('|')})/\\w`),
  ],
  ['a path of Windows', /\b[A-Z]:\\\\?(?:Users|work)\b/],
  [
    'a host of a package registry',
    new RegExp(['registry\\.\\w', 'npm' + 'js\\.', 'py' + 'pi\\.org'].join('|')),
  ],
  ['an address in a private network', /\bhttps?:\/\/(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+/],
];
const binary = /\.(binpb|png|jpg|ico|woff2)$/;

test.each(outside)('no file of the project names %s', (_what, pattern) => {
  const found = filesOfProject()
    .filter((path) => !binary.test(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) =>
          pattern.test(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
        ),
    );
  expect(found).toEqual([]);
});
