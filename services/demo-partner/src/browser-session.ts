// The cookie that binds a browser to its session, and the token that binds a form to the cookie.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomState } from 'openid-client';
import { PartnerFailure } from './partner-failure.ts';
import type { Identity, Sessions } from './store/sessions.ts';

export interface BrowserSession {
  /** The cookie's value: a secret of the browser. */
  readonly id: string;
  readonly identity: Identity | undefined;
}

export interface BrowserSessions {
  readonly find: (request: FastifyRequest) => BrowserSession | undefined;
  /** Finds the connected user's session. Throws PartnerFailure `connect_first`. */
  readonly connected: (request: FastifyRequest) => BrowserSession & { readonly identity: Identity };
  /** Begins a session with a fresh identifier; an older one of this browser ends. */
  readonly begin: (request: FastifyRequest, reply: FastifyReply, identity?: Identity) => BrowserSession;
  readonly end: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** `secure`: the pages are served over https. */
export function createBrowserSessions(
  sessions: Sessions,
  secure: boolean,
  now: () => number,
): BrowserSessions {
  // Cookies do not tell ports apart: a name of our own keeps clear of the provider's on one machine.
  const name = secure ? '__Host-demo-partner' : 'demo-partner';
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;

  const find = (request: FastifyRequest): BrowserSession | undefined => {
    const id = request.cookies[name];
    const session = id ? sessions.find(id, now()) : undefined;
    return id && session ? { id, identity: session.identity } : undefined;
  };
  const end = (request: FastifyRequest): void => {
    const old = request.cookies[name];
    if (old) sessions.remove(old);
  };
  return {
    find,
    connected: (request) => {
      const session = find(request);
      if (!session?.identity) throw new PartnerFailure('connect_first');
      return { id: session.id, identity: session.identity };
    },
    begin: (request, reply, identity) => {
      end(request);
      const id = randomState();
      sessions.create(id, identity, now());
      reply.setCookie(name, id, attributes);
      return { id, identity };
    },
    end: (request, reply) => {
      end(request);
      reply.clearCookie(name, attributes);
    },
  };
}

export function formTokenOf(session: BrowserSession): string {
  return createHmac('sha256', session.id).update('form').digest('base64url');
}

/** Throws PartnerFailure `connection_failed` unless the posted form was made for this session. */
export function requireFormToken(session: BrowserSession, body: unknown): void {
  const sent =
    typeof body === 'object' && body !== null && 'form_token' in body ? body.form_token : undefined;
  const expected = Buffer.from(formTokenOf(session));
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new PartnerFailure('connection_failed');
  }
}
