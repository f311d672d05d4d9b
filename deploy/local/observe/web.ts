// What the page is served by, at loopback alone: its files, its news, one request, and the receiver of traces.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';

const files: Readonly<Record<string, string>> = {
  '/': 'page.html',
  '/colours.css': '../../../../services/gateway/src/pages/colours.css',
  ...Object.fromEntries(
    ['page.css', 'page.js', 'elements.js', 'request.js', 'tiles.js'].map((name) => [`/${name}`, name]),
  ),
};
const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' };

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** An export of spans is small; more is refused. */
const maxBytes = 8 << 20;

const nowhere = new URL('http://localhost/nowhere');

export interface WebDeps {
  readonly takeTraces: (body: string) => void;
  readonly requestOf: (id: string) => unknown;
  readonly newsSince: (number: number) => unknown;
}

export async function serveAt(port: number, deps: WebDeps): Promise<void> {
  const gets: Readonly<Record<string, (parameters: URLSearchParams) => unknown>> = {
    '/news': (parameters) => deps.newsSince(Number(parameters.get('since'))),
    '/request': (parameters) => deps.requestOf(parameters.get('id') ?? ''),
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = URL.parse(request.url ?? '/', 'http://localhost') ?? nowhere;
    // Against DNS rebinding.
    if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? ''))
      return answer(response, 403);
    if (request.method === 'POST' && pathname === '/v1/traces')
      return void take(request, deps.takeTraces).then((status) => answer(response, status, '{}'));
    if (request.method !== 'GET') return answer(response, 405);
    const get = gets[pathname];
    if (!get) return sendFile(response, pathname);
    const found = get(searchParams);
    return answer(response, found === undefined ? 404 : 200, JSON.stringify(found ?? {}));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

function sendFile(response: ServerResponse, path: string): void {
  const file = files[path];
  const type = types[extname(file ?? '') as keyof typeof types];
  if (file === undefined) answer(response, 404);
  else answer(response, 200, readFileSync(join(import.meta.dirname, 'page', file)), type);
}

function answer(
  response: ServerResponse,
  status: number,
  body: string | Buffer = '',
  type = 'application/json',
) {
  response.writeHead(status, { ...headers, 'content-type': `${type}; charset=utf-8` }).end(body);
}

/** The status for a body: of JSON alone, which another site's page cannot send here without a preflight. */
async function take(request: IncomingMessage, use: (body: string) => void): Promise<number> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return 415;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return 413;
      chunks.push(chunk);
    }
    use(Buffer.concat(chunks).toString('utf8'));
    return 200;
  } catch {
    return 400;
  }
}
