// Browser sessions: the cookie binds a browser to its session, the form token a form to the cookie. A session names
// its user by issuer and subject, never by e-mail (specification §5, step 6).
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type {} from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomState } from 'openid-client';
import { hashOf } from './database.ts';
import { PartnerFailure } from './failure.ts';

/** A user's identity key: both fields together, never one alone. */
export interface Identity {
  readonly iss: string;
  readonly sub: string;
}

export interface Session {
  /** The cookie's value: a secret of the browser. */
  readonly id: string;
  readonly identity: Identity | undefined;
}

interface SessionDeps {
  readonly database: DatabaseSync;
  /** The pages are served over https. */
  readonly secure: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const lifetimeMs = 8 * 3600_000;

export function createSessions({ database, secure, now }: SessionDeps) {
  const insert = database.prepare('INSERT INTO sessions (id_hash, iss, sub, expires_at) VALUES (?, ?, ?, ?)');
  const select = database.prepare('SELECT iss, sub FROM sessions WHERE id_hash = ? AND expires_at > ?');
  const drop = database.prepare('DELETE FROM sessions WHERE id_hash = ?');
  const dropAll = database.prepare('DELETE FROM sessions WHERE iss = ? AND sub = ?');
  const dropExpired = database.prepare('DELETE FROM sessions WHERE expires_at <= ?');
  // Cookies ignore ports: avoids the provider's cookies on one machine.
  const cookie = secure ? '__Host-demo-partner' : 'demo-partner';
  const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;

  /** `undefined` when this browser has no session or it has expired. */
  const find = (request: FastifyRequest): Session | undefined => {
    const id = request.cookies[cookie];
    const row =
      id && (select.get(hashOf(id), now()) as { iss: string | null; sub: string | null } | undefined);
    if (!row) return undefined;
    return { id, identity: row.iss && row.sub ? { iss: row.iss, sub: row.sub } : undefined };
  };
  return {
    find,
    /** The connected user's session. Throws PartnerFailure `connect_first`. */
    connected: (request: FastifyRequest) => {
      const session = find(request);
      if (!session?.identity) throw new PartnerFailure('connect_first');
      return { id: session.id, identity: session.identity };
    },
    /** A fresh identifier; an older session of this browser ends. */
    begin: (request: FastifyRequest, reply: FastifyReply, identity?: Identity): Session => {
      const old = request.cookies[cookie];
      if (old) drop.run(hashOf(old));
      dropExpired.run(now());
      const id = randomState();
      insert.run(hashOf(id), identity?.iss ?? null, identity?.sub ?? null, now() + lifetimeMs);
      reply.setCookie(cookie, id, attributes);
      return { id, identity };
    },
    /** Ends all sessions of a user who disconnects, in every browser. */
    endAll: ({ iss, sub }: Identity, reply: FastifyReply): void => {
      dropAll.run(iss, sub);
      reply.clearCookie(cookie, attributes);
    },
  };
}

export function formTokenOf(session: Session): string {
  return createHmac('sha256', session.id).update('form').digest('base64url');
}

/** Throws PartnerFailure `connection_failed` unless the form was made for this session. */
export function requireFormToken(session: Session, body: unknown): void {
  const sent =
    typeof body === 'object' && body !== null && 'form_token' in body ? body.form_token : undefined;
  const expected = Buffer.from(formTokenOf(session));
  const given = Buffer.from(typeof sent === 'string' ? sent : '');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new PartnerFailure('connection_failed');
  }
}
