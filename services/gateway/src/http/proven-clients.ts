// Which client sends an `Authorization` header, once a service has accepted it: admission gives a client its share only
// then; credentials in a form count once it was read. A name that anybody can send would let anybody take away the share of
// the client that has it (R14.7).
import { hash } from 'node:crypto';

/** Headers that are remembered; those that were not used for the longest time go first. */
const mostHeaders = 20_000;

export interface ProvenClients {
  /** Undefined while nothing has proven it. */
  readonly clientOf: (authorization: string | undefined) => string | undefined;
  /** What a service made of the header: the `client` that it proves, and whether it still opens anything. */
  readonly judged: (authorization: string | undefined, client: string | undefined, status: number) => void;
}

export function createProvenClients(): ProvenClients {
  /** By SHA-256: secrets and tokens are kept nowhere (R18). */
  const clients = new Map<string, string>();
  const remember = (key: string, client: string): void => {
    clients.delete(key);
    clients.set(key, client);
    const [oldest] = clients.keys();
    if (clients.size > mostHeaders && oldest !== undefined) clients.delete(oldest);
  };
  return {
    clientOf: (authorization) => {
      const key = authorization && keyOf(authorization);
      const client = key && clients.get(key);
      if (client) remember(key, client);
      return client || undefined;
    },
    judged: (authorization, client, status) => {
      if (authorization === undefined) return;
      // A secret that was retired, a token that has expired: whoever has it has nobody's share.
      if (status === 401) clients.delete(keyOf(authorization));
      else if (client !== undefined) remember(keyOf(authorization), client);
    },
  };
}

/** Credentials in the form of a token request (`client_secret_post`), as the header that would say the same. */
export function postedCredentials(body: string): string | undefined {
  if (!body.includes('client_secret=')) return undefined;
  const form = new URLSearchParams(body);
  const pair = ['client_id', 'client_secret'].map((name) => encodeURIComponent(form.get(name) ?? ''));
  return `Basic ${Buffer.from(pair.join(':')).toString('base64')}`;
}

function keyOf(authorization: string): string {
  return hash('sha256', authorization, 'base64url');
}
