// A browser without a browser: cookies, redirects on one origin, forms by their structure and by no ids of ours. It stops where
// the issuer sends it away, so that a redirect URI needs no listener.
import { type Answer, type Fields, formEncoded, send } from './http.ts';

export type Form = ReturnType<typeof formOf>;

/** A page of the issuer: the address it was read from, its forms, and the text that a person reads. */
export type Page = ReturnType<typeof pageOf>;
/** A redirect that leaves the issuer. */
export type Departure = ReturnType<typeof departureOf>;

type Cookie = { readonly name: string; readonly value: string; readonly attributes: string };

export type UserAgent = ReturnType<typeof openUserAgent>;

export type UserAgentOptions = {
  /** The loopback address to call from. */
  readonly from?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: ReadonlyMap<string, Cookie>;
  readonly timeoutMs?: number;
};

/** Opens a browser that stays on `issuer`. */
export function openUserAgent(issuer: string, options: UserAgentOptions = {}) {
  const { headers: own, cookies: kept = [], ...how } = options;
  const cookies = new Map(kept);

  async function load(url: string, form?: Fields): Promise<Answer> {
    const cookie = [...cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = {
      accept: 'text/html,application/xhtml+xml',
      'accept-language': 'en',
      ...(form ? { 'sec-fetch-site': 'same-origin', origin: 'null' } : {}),
      ...own,
      ...(cookie === '' ? {} : { cookie }),
    };
    const answer = await send(url, { headers, ...how, ...(form ? { form } : {}) });
    for (const line of answer.headers['set-cookie'] ?? []) keep(cookies, line);
    return answer;
  }

  async function visit(url: string, sent: { readonly form?: Fields } = {}): Promise<Page | Departure> {
    let at = url;
    let answer = await load(at, sent.form);
    for (let hops = 0; hops < 10; hops++) {
      const { location } = answer.headers;
      if (location === undefined || answer.status < 300 || answer.status > 399) return pageOf(at, answer);
      if (/^https?:/.test(location) && !`${location}/`.startsWith(`${issuer}/`))
        return departureOf(location, answer);
      at = new URL(location, at).href;
      answer = await load(at);
    }
    throw new Error(`Redirected in a loop: ${url}`);
  }

  /** Submits a form of a page with these values in its fields; `button` is the name=value that is pressed. */
  function submit(page: Page, form: Form, values: Fields, button?: string): Promise<Page | Departure> {
    return visit(new URL(form.action, page.url).href, { form: filled(form, values, button) });
  }

  return { visit, submit, cookies };
}

/** Opens a browser at the demo partner, or at a client with the same addresses. */
export function openPartnerBrowser(partner: string) {
  const { visit, submit, cookies } = openUserAgent(partner);
  const load = async (path: string) => (await visit(`${partner}${path}`)) as Page;
  return {
    load,
    /**
     * `agree` walks through the issuer's pages, with the cookies of this browser: on one host it sends them to every port.
     * Resolves with the callback's path and the page to which it redirects.
     */
    connect: async (agree: (request: URL, jar: Map<string, string>) => Promise<URL>) => {
      const { location } = (await visit(`${partner}/connect`)) as Departure;
      const jar = new Map([...cookies.values()].map(({ name, value }) => [name, value]));
      const { pathname, search } = await agree(new URL(location), jar);
      cookies.clear();
      for (const [name, value] of jar) cookies.set(name, { name, value, attributes: '' });
      const callback = `${pathname}${search}`;
      return { callback, arrival: await load(callback) };
    },
    /** The events, and the designs of the first. */
    read: async (): Promise<void> => {
      const { answer } = await load('/events');
      const designs = /href="(\/events\/[^"]+\/designs)"/.exec(answer.text)?.[1];
      if (designs) await load(designs);
    },
    /** Presses the button whose form goes to `action`. */
    press: async (action: '/refresh' | '/disconnect') => {
      const home = await load('/');
      const form = home.forms.find((one) => one.action === action);
      return form && ((await submit(home, form, {})) as Page);
    },
  };
}

function filled(form: Form, values: Fields, button: string | undefined): Fields {
  const sent = form.fields.filter(({ name, type, checked }) => name && (type !== 'checkbox' || checked));
  const given = [...new URLSearchParams(formEncoded(values)), ...new URLSearchParams(button)];
  return [...new Map([...sent.map(({ name, value }) => [name, value] as const), ...given])];
}

function keep(cookies: Map<string, Cookie>, line: string): void {
  const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
  const expires = /expires=([^;]+)/i.exec(attributes)?.[1];
  const gone = /max-age=0/i.test(attributes) || (expires !== undefined && Date.parse(expires) < Date.now());
  if (gone) cookies.delete(name);
  else cookies.set(name, { name, value, attributes });
}

function pageOf(url: string, answer: Answer) {
  const body = answer.text.replace(/<(style|script|head)\b.*?<\/\1>/gis, ' ').replace(/<[^>]+>/g, ' ');
  const text = unescapeHtml(body).replace(/\s+/g, ' ').trim();
  const forms = [...answer.text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(formOf);
  return { kind: 'page' as const, url, answer, forms, text };
}

function departureOf(location: string, answer: Answer) {
  const query = location.slice(location.indexOf('?') + 1);
  return { kind: 'departure' as const, location, parameters: new URLSearchParams(query), answer };
}

function formOf([, attributes = '', content = '']: readonly string[]) {
  const { action = '', method = 'get' } = attributesOf(attributes);
  const elements = [...content.matchAll(/<(input|button)\b([^>]*)>/g)].map(([, element, own = '']) => {
    const found = attributesOf(own);
    const { type = element === 'button' ? 'submit' : 'text', name = '' } = found;
    const { value = type === 'checkbox' ? 'on' : '' } = found;
    return { name, type, value, checked: 'checked' in found };
  });
  const { buttons = [], fields = [] } = Object.groupBy(elements, ({ type }) =>
    type === 'submit' ? 'buttons' : 'fields',
  );
  return { action, method, fields, buttons };
}

const attributesOf = (text: string): Record<string, string | undefined> =>
  Object.fromEntries(
    [...text.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name, value = '']) => [name, unescapeHtml(value)]),
  );

function unescapeHtml(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) =>
    code ? String.fromCodePoint(Number(code)) : (named[name] ?? whole),
  );
}
