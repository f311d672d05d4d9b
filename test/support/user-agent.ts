// A browser without a browser: cookies, redirects on one origin, forms. It stops where the issuer sends it
// away, so that a redirect URI needs nobody who listens.
import { type Form, formsOf, visibleText } from './html-forms.ts';
import { type Answer, type Fields, formEncoded, send } from './http.ts';

/** A page of the issuer, with the address it was read from. */
export type Page = {
  readonly kind: 'page';
  readonly url: string;
  readonly answer: Answer;
  readonly forms: readonly Form[];
  readonly text: string;
};

/** A redirect that leaves the issuer. */
export type Departure = {
  readonly kind: 'departure';
  readonly location: string;
  readonly parameters: URLSearchParams;
  readonly answer: Answer;
};

type Cookie = { readonly name: string; readonly value: string; readonly attributes: string };

export type UserAgent = {
  readonly visit: (url: string, sent?: { readonly form?: Fields }) => Promise<Page | Departure>;
  /** Submits a form of a page with these values in its fields; `button` is the name=value that is pressed. */
  readonly submit: (page: Page, form: Form, values: Fields, button?: string) => Promise<Page | Departure>;
  readonly cookies: Map<string, Cookie>;
};

export type UserAgentOptions = {
  /** The loopback address to call from. */
  readonly from?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: ReadonlyMap<string, Cookie>;
  /** Of each request. */
  readonly timeoutMs?: number;
};

/** Opens a browser that stays on `issuer`. */
export function openUserAgent(issuer: string, options: UserAgentOptions = {}): UserAgent {
  const cookies = new Map(options.cookies ?? []);
  const how = {
    ...(options.from === undefined ? {} : { from: options.from }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  };

  async function load(url: string, method: 'GET' | 'POST', form?: Fields): Promise<Answer> {
    const cookie = [...cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
    const headers = {
      accept: 'text/html,application/xhtml+xml',
      'accept-language': 'en',
      ...(method === 'POST' ? { 'sec-fetch-site': 'same-origin', origin: 'null' } : {}),
      ...options.headers,
      ...(cookie === '' ? {} : { cookie }),
    };
    const answer = await send(url, { method, headers, ...how, ...(form === undefined ? {} : { form }) });
    for (const line of answer.headers['set-cookie'] ?? []) keep(cookies, line);
    return answer;
  }

  async function visit(url: string, sent: { readonly form?: Fields } = {}): Promise<Page | Departure> {
    let at = url;
    let answer = await load(at, sent.form === undefined ? 'GET' : 'POST', sent.form);
    for (let hops = 0; hops < 10; hops++) {
      const { location } = answer.headers;
      if (location === undefined || answer.status < 300 || answer.status > 399) return pageOf(at, answer);
      if (/^https?:/.test(location) && !`${location}/`.startsWith(`${issuer}/`))
        return departureOf(location, answer);
      at = new URL(location, at).href;
      answer = await load(at, 'GET');
    }
    throw new Error(`Redirected in a loop: ${url}`);
  }

  function submit(page: Page, form: Form, values: Fields, button?: string): Promise<Page | Departure> {
    const target = new URL(form.action, page.url).href;
    const fields = filled(form, values, button);
    if (form.method === 'post') return visit(target, { form: fields });
    return visit(`${target.split('?')[0]}?${formEncoded(fields)}`);
  }

  return { visit, submit, cookies };
}

function filled(form: Form, values: Fields, button: string | undefined): Fields {
  const given = new Map(new URLSearchParams(formEncoded(values)));
  const kept = form.fields.filter(
    (field) => field.name !== '' && (field.type !== 'checkbox' || field.checked),
  );
  const fields = new Map(kept.map((field) => [field.name, field.value] as const));
  for (const [name, value] of given) fields.set(name, value);
  const [name, value] = button?.split('=', 2) ?? [];
  if (name !== undefined) fields.set(name, value ?? '');
  return [...fields];
}

function keep(cookies: Map<string, Cookie>, line: string): void {
  const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
  const expires = /expires=([^;]+)/i.exec(attributes)?.[1];
  const gone = /max-age=0/i.test(attributes) || (expires !== undefined && Date.parse(expires) < Date.now());
  if (gone) cookies.delete(name);
  else cookies.set(name, { name, value, attributes });
}

function pageOf(url: string, answer: Answer): Page {
  return { kind: 'page', url, answer, forms: formsOf(answer.text), text: visibleText(answer.text) };
}

function departureOf(location: string, answer: Answer): Departure {
  const query = location.slice(location.indexOf('?') + 1);
  return { kind: 'departure', location, parameters: new URLSearchParams(query), answer };
}
