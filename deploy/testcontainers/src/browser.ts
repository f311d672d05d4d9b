// A user and her browser, without a browser: follows an authorization request through the pages to the redirect URI.

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

const agreement = ({ email, password }: Credentials): Answers => [
  ['/login', { email, password }],
  ['/consent', { decision: 'allow' }],
  ['/account', { choice: 'continue' }],
];
const refusal: Answers = [['/cancel', {}]];

type Answers = readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[];

/** Resolves with the address that the browser is sent back to. Cancels without a user. `cookies`: what the browser has. */
export async function visit(
  request: URL,
  user?: Credentials,
  cookies = new Map<string, string>(),
): Promise<URL> {
  const answers = user ? agreement(user) : refusal;
  const filledIn = new Set<string>();
  let next: { readonly url: URL; readonly body?: URLSearchParams } = { url: request };
  for (let step = 0; step < 12; step += 1) {
    const response = await load(next.url, cookies, next.body);
    const location = response.headers.get('location');
    if (location !== null) {
      next = { url: new URL(location, next.url) };
      if (next.url.origin !== request.origin) return next.url;
      continue;
    }
    const page = await response.text();
    const form = formOf(page, answers);
    if (form === undefined)
      throw new Error(`${request.pathname} answers ${response.status}: ${textOf(page)}`);
    if (filledIn.has(form.path)) throw new Error(`The login of ${user?.email} is refused: ${textOf(page)}`);
    filledIn.add(form.path);
    next = { url: new URL(form.action, next.url), body: new URLSearchParams(form.fields) };
  }
  throw new Error(`${request.href} is redirected in a loop.`);
}

async function load(url: URL, cookies: Map<string, string>, body?: URLSearchParams): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    redirect: 'manual',
    signal: AbortSignal.timeout(30_000),
    headers: { accept: 'text/html', 'accept-language': 'en', ...(cookie === '' ? {} : { cookie }) },
    ...(body ? { body } : {}),
  });
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '' || /;\s*max-age=0/i.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
  return response;
}

/** The first form that has an answer, filled in. */
function formOf(page: string, answers: Answers) {
  const forms = [...page.matchAll(/<form\b[^>]*\baction="([^"]*)"[^>]*>(.*?)<\/form>/gs)];
  for (const [path, answer] of answers) {
    const [, action, content = ''] = forms.find(([, target = '']) => target.split('?')[0] === path) ?? [];
    if (action === undefined) continue;
    const hidden = content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
    const fields = Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, plain(value)]));
    return { path, action: plain(action), fields: { ...fields, ...answer } };
  }
  return undefined;
}

function textOf(page: string): string {
  const body = page.replace(/<(style|head|svg)\b.*?<\/\1>/gs, ' ').replace(/<[^>]+>/g, ' ');
  return plain(body).replace(/\s+/g, ' ').trim().slice(0, 300);
}

function plain(escaped: string): string {
  return escaped
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
