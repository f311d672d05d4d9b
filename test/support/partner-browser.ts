// A browser at the demo partner: keeps one cookie, and presses its buttons.

export function openPartnerBrowser(partner: string) {
  let cookie = '';

  async function load(path: string, form?: URLSearchParams): Promise<Response> {
    const sent = form ? { method: 'POST', body: form } : {};
    const response = await fetch(`${partner}${path}`, { ...sent, headers: { cookie }, redirect: 'manual' });
    const [fresh] = response.headers.getSetCookie();
    if (fresh) cookie = fresh.split(';')[0] ?? '';
    return response;
  }
  const callback = ({ pathname, search }: URL) => load(`${pathname}${search}`);

  return {
    load,
    callback,
    /** `visit` walks through the issuer's pages. Resolves with the callback's address. */
    connect: async (visit: (request: URL) => Promise<URL>): Promise<URL> => {
      const request = (await load('/connect')).headers.get('location') ?? '';
      const address = await visit(new URL(request));
      await callback(address);
      return address;
    },
    /** The events, and the designs of the first. */
    read: async (): Promise<void> => {
      const events = await (await load('/events')).text();
      const designs = /href="(\/events\/[^"]+\/designs)"/.exec(events)?.[1];
      if (designs) await load(designs);
    },
    /** Presses the button whose form goes to `action`. */
    press: async (action: '/refresh' | '/disconnect'): Promise<Response> => {
      const home = await (await load('/')).text();
      const token = /name="form_token" value="([^"]+)"/.exec(home)?.[1] ?? '';
      return load(action, new URLSearchParams({ form_token: token }));
    },
  };
}
