// Cookies of the browser session, of the device that has logged in before, and of each interaction, so that two tabs
// do not interfere.

export type Cookies = ReturnType<typeof createCookies>;

const maxInteractions = 8;
/** Thirty days: as long as identity remembers a device (R30.11). */
const deviceSeconds = 30 * 24 * 60 * 60;
const wellFormed = /^[A-Za-z0-9._-]{1,256}$/;

export function createCookies(issuer: string) {
  const secure = issuer.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const sessionName = `${prefix}session`;
  const deviceName = `${prefix}device`;
  const interactionPrefix = `${prefix}interaction-`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const clear = (name: string) => `${name}=; Max-Age=0; ${attributes}`;
  return {
    /** '' when there is none. Secret. */
    session: (header: string | undefined) => presented(header).get(sessionName) ?? '',
    /** '' when there is none. */
    device: (header: string | undefined) => presented(header).get(deviceName) ?? '',
    /** '' when there is none. Secret. */
    interaction: (header: string | undefined, id: string) =>
      presented(header).get(interactionPrefix + id) ?? '',
    /** Ends with the browser (R29.6). */
    setSession: (value: string) => `${sessionName}=${value}; ${attributes}`,
    setDevice: (value: string) => `${deviceName}=${value}; Max-Age=${deviceSeconds}; ${attributes}`,
    clearSession: () => clear(sessionName),
    setInteraction: (id: string, value: string, maxAgeSeconds: number) =>
      `${interactionPrefix}${id}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    /** At most eight remain with a new one. */
    clearSurplusInteractions: (header: string | undefined) => {
      const names = [...presented(header).keys()].filter((name) => name.startsWith(interactionPrefix));
      // Browsers send the oldest first (RFC 6265 §5.4).
      return names.slice(0, Math.max(0, names.length - maxInteractions + 1)).map(clear);
    },
  };
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
