// Serves the page at loopback alone: its files, its news, one request, and the receiver of traces.
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fastify } from 'fastify';

const folder = join(import.meta.dirname, 'page');
const library = '/node_modules/lit-html';
const modules = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];
const files: Readonly<Record<string, string>> = {
  '/': 'page.html',
  '/colours.css': '../../../../services/gateway/src/pages/colours.css',
  ...Object.fromEntries(
    ['page.css', 'page.js', 'elements.js', 'request.js', 'tiles.js'].map((name) => [`/${name}`, name]),
  ),
  ...Object.fromEntries(modules.map((name) => [`${library}/${name}`, `../..${library}/${name}`])),
};
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
};

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
const bodyLimit = 8 << 20;

export interface WebDeps {
  /** Throws if `body` is no export of traces. */
  readonly takeTraces: (body: unknown) => void;
  readonly requestOf: (id: string) => unknown;
  readonly newsSince: (number: number) => unknown;
}

export async function serveAt(port: number, deps: WebDeps): Promise<void> {
  const server = fastify({ bodyLimit });
  // JSON alone, which another site's page cannot send here without a preflight.
  server.removeContentTypeParser('text/plain');
  server.addHook('onRequest', async ({ headers: { host = '' } }, reply) => {
    reply.headers(headers);
    // Against DNS rebinding.
    if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host)) return reply.code(403).send();
  });
  server.post('/v1/traces', async ({ body }, reply) => {
    try {
      deps.takeTraces(body);
      return {};
    } catch {
      return reply.code(400).send();
    }
  });
  server.get<{ Querystring: { since: string } }>('/news', async ({ query }) =>
    deps.newsSince(Number(query.since)),
  );
  server.get<{ Querystring: { id: string } }>(
    '/request',
    async ({ query }, reply) => deps.requestOf(query.id) ?? reply.code(404).send(),
  );
  for (const [path, file] of Object.entries(files))
    server.get(path, async (_, reply) =>
      reply.type(`${types[extname(file)]}; charset=utf-8`).send(readFileSync(join(folder, file))),
    );
  await server.listen({ port, host: '127.0.0.1' });
}
