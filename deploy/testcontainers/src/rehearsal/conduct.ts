// The duties that every rehearsal tests, from each request and those before it.
import type { Breach, DutyName } from './duties.ts';
import { claimsOf } from './plays.ts';
import { type Asked, describe } from './request.ts';

/** A timer of the client may be a little ahead of ours. */
const earlyMs = 20;
const secretParameters = ['access_token', 'refresh_token', 'id_token', 'client_secret', 'code_verifier'];

/** What `asked` breaks by itself or after `before`, in the order in which they came. */
export function breachOf(asked: Asked, before: readonly Asked[]): Breach | undefined {
  const inUrl = secretParameters.find((name) => asked.url.searchParams.has(name));
  if (inUrl) return { duty: 'no-secret-in-urls', seen: `The URL of ${describe(asked)} has ${inUrl}.` };
  if (asked.bearer !== undefined && claimsOf(asked.bearer)?.token_use === 'id_token')
    return { duty: 'id-token-opens-nothing', seen: `${describe(asked)} carried an ID token.` };
  const refused = asked.bearer && before.find((one) => one.bearer === asked.bearer && isRefused(one));
  if (refused)
    return {
      duty: 'refresh-once',
      seen: `${describe(asked)} sent the access token that ${describe(refused)} had refused.`,
    };
  if (asked.endpoint === 'exchange') return exchangedAgain(asked, withSame('code', asked, before));
  if (asked.endpoint === 'refresh') return refreshedAgain(asked, withSame('refresh_token', asked, before));
  return undefined;
}

const isRefused = ({ outcome }: Asked) => outcome?.kind === 'invalid_token';

function withSame(field: string, { form }: Asked, before: readonly Asked[]): readonly Asked[] {
  return before.filter((one) => one.form.has(field) && one.form.get(field) === form.get(field));
}

function exchangedAgain(asked: Asked, before: readonly Asked[]): Breach | undefined {
  const last = before.findLast(
    ({ outcome }) => outcome?.kind !== 'unavailable' && outcome?.kind !== 'refused',
  );
  if (last === undefined) return undefined;
  return {
    duty: last.outcome?.kind === 'nothing' ? 'never-again' : 'code-once',
    seen: `${describe(asked)} sent the code of ${describe(last)} again.`,
  };
}

function refreshedAgain(asked: Asked, before: readonly Asked[]): Breach | undefined {
  const after = (one: Asked, duty: DutyName, how: string): Breach => {
    const passed = Math.round(asked.at - (one.outcome ?? one).at);
    const sent = `${describe(asked)} sent the refresh token of ${describe(one)} again`;
    return { duty, seen: `${sent}, ${how.replace('MS', `${passed} ms`)}.` };
  };
  const underWay = before.find(({ outcome }) => outcome === undefined);
  if (underWay) return after(underWay, 'one-refresh-at-a-time', 'MS after its start and before its end');
  const ended = (kind: string) => before.find(({ outcome }) => outcome?.kind === kind);
  const replaced = ended('success');
  if (replaced) return after(replaced, 'replace-refresh-token', 'MS after that had replaced it');
  const lost = ended('nothing');
  if (lost) return after(lost, 'never-again', 'MS after that had ended without an answer of ours');
  const refused = ended('invalid_grant');
  if (refused) return after(refused, 'start-new-flow', 'MS after invalid_grant');
  const [unavailable, second] = before.filter(({ outcome }) => outcome?.kind === 'unavailable');
  if (unavailable?.outcome?.kind !== 'unavailable') return undefined;
  if (second) return after(second, 'wait-for-retry-after', 'a second time');
  if (asked.at >= unavailable.outcome.notBefore - earlyMs) return undefined;
  return after(unavailable, 'wait-for-retry-after', 'MS after our 503');
}
