// Our services as a subject: the bundles of the images of this or of another checkout, on the local stack's stores and
// with its demo data, telemetry off, and only errors in the log.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basic, openCaller } from '../support/flow.ts';
import { cloneFamilies } from '../support/load.ts';
import type { System, startSystem as startSystemHere } from '../support/system.ts';
import { openUserAgent } from '../support/user-agent.ts';
import type { Subject } from './load.ts';

const services = ['gateway', 'identity', 'design-catalog'] as const;

/** `checkout`: whose code runs. */
export async function startCourseExchange(
  name: string,
  checkout: string,
): Promise<Subject & Pick<System, 'stack'>> {
  const { startSystem } = (await import(join(checkout, 'test/support/system.ts'))) as {
    readonly startSystem: typeof startSystemHere;
  };
  const bundles = mkdtempSync(join(tmpdir(), 'course-exchange-bench-'));
  execFileSync(process.execPath, [join(checkout, 'deploy/images/bundle.ts'), bundles, ...services]);
  const settings = { LOG_LEVEL: 'error', OTEL_METRICS_EXPORTER: 'none' };
  const { stack, stop } = await startSystem(settings, { bundles });
  const { issuer: origin } = stack;
  const caller = await openCaller(stack, 'no designs');
  const { discovery, partner } = caller;
  const { authorization } = basic(partner);
  const browser = openUserAgent(origin);
  const of = async (about: string) => {
    const user = await openCaller(stack, about);
    const { access_token } = await user.newTokens();
    const { items } = (await user.events(access_token)).json() as {
      items: { id: string; designCount: number }[];
    };
    return { accessToken: access_token, items };
  };
  const [few, huge, large] = [await of('typical season'), await of('2,000 events'), await of('730 designs')];
  const largest = large.items.find(({ designCount }) => designCount === 730)?.id;

  const { pathname } = new URL(discovery.token_endpoint);
  const post = (form: Readonly<Record<string, string>>) => ({ path: pathname, authorization, form });
  const get = (path: string, accessToken: string) => ({ path, authorization: `Bearer ${accessToken}` });
  const redirect_uri = partner.redirectUris[0] ?? '';
  return {
    name,
    origin,
    stack,
    pids: services.map((service) => stack.processes?.[service] ?? 0),
    make: async (grant, count) => {
      if (grant === 'refresh') {
        // Exchanges may have ended an earlier one.
        const { refresh_token } = await caller.newTokens(browser);
        return cloneFamilies(`${stack.redis}`, refresh_token, count);
      }
      const { code = '' } = await caller.codeForm(browser);
      return cloneFamilies(`${stack.redis}`, code, count, 'code');
    },
    requests: (secret) => ({
      refresh: post({ grant_type: 'refresh_token', refresh_token: secret }),
      exchange: post({ grant_type: 'authorization_code', code: secret, redirect_uri }),
      events12: get('/api/events', few.accessToken),
      events2000: get('/api/events', huge.accessToken),
      designs500: get(`/api/events/${largest}/designs`, large.accessToken),
    }),
    stop: async () => {
      await stop();
      rmSync(bundles, { recursive: true });
    },
  };
}
