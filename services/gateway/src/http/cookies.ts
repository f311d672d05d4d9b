// Cookies of the browser session, of the device that has logged in before, and of each interaction, so that two tabs
// do not interfere. Browsers send a cookie to every port of a host: no name is the default of a partner's framework.

export type Cookies = ReturnType<typeof createCookies>;

/** That remain when one starts; and when one starts anew (R6.13), so that none of the other tabs is lost for it. */
const maxInteractions = { start: 16, again: 32 };
/** `Set-Cookie` lines that an answer clears: with those it sets, at most 16. */
const maxCleared = 14;
/** Thirty days: as long as identity remembers a device (R30.11). */
const deviceSeconds = 30 * 24 * 60 * 60;
const wellFormed = /^[A-Za-z0-9._-]{1,256}$/;

export function createCookies(issuer: string) {
  const secure = issuer.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const session = { name: `${prefix}course-exchange-session`, before: `${prefix}session` };
  const device = { name: `${prefix}course-exchange-device`, before: `${prefix}device` };
  const interaction = { name: `${prefix}course-exchange-interaction-`, before: `${prefix}interaction-` };
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const clear = (name: string) => `${name}=; Max-Age=0; ${attributes}`;
  // Version 0.1.0 knows the names of `before` alone. During an upgrade it runs beside this one: what stands there is its
  // last word. The next version reads `name` first and still writes both; the one after forgets `before`. Over http the
  // name may be another program's, which nobody overwrites.
  const namesOf = ({ name, before }: CookieNames) => (secure ? [before, name] : [name]);
  const read = (header: string | undefined, names: CookieNames): string => {
    const cookies = presented(header);
    const all = secure ? namesOf(names) : [names.name, names.before];
    return all.map((name) => cookies.get(name)).find((value) => value !== undefined) ?? '';
  };
  return {
    /** '' when there is none. Secret. */
    session: (header: string | undefined) => read(header, session),
    /** '' when there is none. */
    device: (header: string | undefined) => read(header, device),
    /** '' when there is none. Secret. */
    interaction: (header: string | undefined, id: string) => read(header, withId(interaction, id)),
    /** Ends with the browser (R29.6). */
    setSession: (value: string) => namesOf(session).map((name) => `${name}=${value}; ${attributes}`),
    setDevice: (value: string) =>
      namesOf(device).map((name) => `${name}=${value}; Max-Age=${deviceSeconds}; ${attributes}`),
    clearSession: () => namesOf(session).map(clear),
    setInteraction: (id: string, value: string, maxAgeSeconds: number) =>
      namesOf(withId(interaction, id)).map(
        (name) => `${name}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
      ),
    /** So many remain with a new one, after a few answers if there are far more. */
    clearSurplusInteractions: (header: string | undefined, by: keyof typeof maxInteractions) => {
      const names = [...presented(header).keys()];
      const surplus = namesOf(interaction).flatMap((beginning) => {
        const kept = names.filter((name) => name.startsWith(beginning));
        // Browsers send the oldest first (RFC 6265 §5.4).
        return kept.slice(0, Math.max(0, kept.length - maxInteractions[by] + 1));
      });
      return surplus.slice(0, maxCleared).map(clear);
    },
    /** Whether the browser sends any of them, of whatever age. */
    sendsAny: (header: string | undefined) =>
      [...presented(header).keys()].some(
        (name) =>
          [session, device].some((names) => Object.values(names).includes(name)) ||
          Object.values(interaction).some((beginning) => name.startsWith(beginning)),
      ),
  };
}

interface CookieNames {
  readonly name: string;
  readonly before: string;
}

function withId({ name, before }: CookieNames, id: string): CookieNames {
  return { name: name + id, before: before + id };
}

function presented(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const mark = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, mark)).trim();
    const value = pair.slice(mark + 1).trim();
    if (wellFormed.test(name) && wellFormed.test(value) && !cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}
