// HTTP/2 sessions to one address: opened when needed, opened anew after the service has closed one. Whatever a
// session still reports after its calls have failed goes unheard, for the calls have told it.
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  type SecureClientSessionOptions,
} from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import type { GrpcTransportOptions } from '@connectrpc/connect-node';

export type Sessions = NonNullable<GrpcTransportOptions['sessionManager']> & { readonly abort: () => void };

/** `abort` ends every session at once. A call on an address that nobody listens on fails with `Unavailable`. */
export function openSessions(
  url: string,
  options: ClientSessionOptions | SecureClientSessionOptions,
): Sessions {
  const open = new Set<ClientHttp2Session>();
  let present: ClientHttp2Session | undefined;
  const session = (): ClientHttp2Session => {
    if (present && !present.closed && !present.destroyed) return present;
    const made = connect(url, options);
    made.on('error', () => {});
    made.once('close', () => open.delete(made));
    open.add(made);
    present = made;
    return made;
  };
  return {
    authority: new URL(url).origin,
    request: async (method, path, headers, more) => {
      const used = await connected(session());
      return used.request({ ...headers, ':method': method, ':path': path }, more);
    },
    notifyResponseByteRead: () => {},
    abort: () => {
      for (const one of open) one.destroy();
    },
  };
}

async function connected(session: ClientHttp2Session): Promise<ClientHttp2Session> {
  if (!session.connecting) return session;
  try {
    await once(session, 'connect');
    return session;
  } catch (cause) {
    throw new ConnectError('no connection', Code.Unavailable, undefined, undefined, cause);
  }
}
