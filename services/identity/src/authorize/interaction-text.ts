// An interaction as text, for Redis and for the browser's seal: JSON with a version. What comes back is parsed: it may be of
// another version of identity, which runs beside this one during an upgrade. Fields of the next version are kept.
import * as z from 'zod';
import { knownScopes } from '../clients/scope.ts';
import type { ClientId, ConsentId, SecretHash, Sub } from '../ids.ts';
import { challengeMethods } from '../token/pkce.ts';
import type { Interaction } from './interaction.ts';
import { prompts } from './request.ts';

const version = 1;

const branded = <T extends string>() => z.custom<T>((value) => typeof value === 'string');
const [sub, hash] = [branded<Sub>(), branded<SecretHash>()];
const subject = z.looseObject({
  sub,
  authTime: z.number(),
  origin: z.enum(['session', 'login', 'login-once']),
});
const at = z.number();
const decision = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('allowed'),
    subject,
    consentId: branded<ConsentId>(),
    newConsent: z.literal(true).optional(),
    completed: z.literal(true).optional(),
    at,
  }),
  z.looseObject({
    kind: z.literal('refused'),
    error: z.enum(['access_denied', 'login_required', 'invalid_scope']),
    at,
  }),
]);
const request = z.looseObject({
  clientId: branded<ClientId>(),
  redirectUri: z.string(),
  scopes: z.array(z.enum(knownScopes)),
  pkce: z.looseObject({ challenge: z.string(), method: z.enum(challengeMethods) }).optional(),
  state: z.string(),
  nonce: z.string(),
  loginHint: z.string(),
  uiLocales: z.string(),
  prompts: z.array(z.enum(prompts)),
  maxAge: z.number().optional(),
  hintedSub: sub.optional(),
});
const schema = z.looseObject({
  // The previous version wrote none.
  version: z.literal(version).default(version),
  id: z.string(),
  cookieHash: hash,
  createdAt: z.number(),
  request,
  subject: subject.optional(),
  holder: z.looseObject({ sub, session: hash.optional() }).optional(),
  wasSealed: z.literal(true).optional(),
  accountConfirmed: z.boolean().optional(),
  decision: decision.optional(),
});

/** Of what the partner or the browser sent. In Redis base64url: in JSON a control character takes six bytes (R3.8). */
type Encoding = 'utf8' | 'base64url';
const callersTexts = ['state', 'nonce', 'loginHint', 'uiLocales'] as const;

export function writeInteraction(interaction: Interaction, encoding: Encoding): string {
  return JSON.stringify({ version, ...recode(interaction, 'utf8', encoding) });
}

/** Undefined for what is of another version, or no interaction. */
export function readInteraction(text: string, encoding: Encoding): Interaction | undefined {
  const read = schema.safeParse(parseJson(text));
  if (!read.success) return undefined;
  const { version: _, ...interaction } = read.data;
  return recode(interaction, encoding, 'utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function recode(interaction: Interaction, from: Encoding, to: Encoding): Interaction {
  if (from === to) return interaction;
  const request = { ...interaction.request };
  for (const name of callersTexts) request[name] = Buffer.from(request[name], from).toString(to);
  return { ...interaction, request };
}
