// What a person does between the demo partner and the pages of the service, by what the pages say.
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { authorizeUrl } from '../support/flow.ts';
import { runningStack } from '../support/running-stack.ts';
import type { DemoUser, Partner } from '../support/stack-file.ts';

export const stack = runningStack();
/** A registered redirect URI where nothing of ours listens. */
export const silentCallback = 'http://127.0.0.1:9099/callback';

/** The demo partner's origin. */
export function partnerOrigin(): string {
  if (!stack.demoPartner) throw new Error('The stack file names no demo partner.');
  return stack.demoPartner;
}

export const words = {
  en: {
    connect: 'Connect',
    logIn: 'Log in',
    email: 'E-mail address',
    password: 'Password',
    allow: 'Allow',
    deny: 'Do not allow',
    wrong: /is not right/,
    events: 'Show my events',
    disconnect: 'Disconnect',
    consent: /would like to read your events and course designs/,
  },
  de: {
    connect: 'Verbinden',
    logIn: 'Anmelden',
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    allow: 'Zustimmen',
    deny: 'Ablehnen',
    wrong: /stimmen nicht/,
    events: 'Meine Veranstaltungen',
    disconnect: 'Trennen',
    consent: /möchte Ihre Veranstaltungen/,
  },
} as const;
export type Words = (typeof words)['en' | 'de'];

/** Opens the demo partner and presses Connect. */
export async function connect(page: Page, said: Words = words.en): Promise<void> {
  await page.goto(`${partnerOrigin()}/`);
  await page.getByRole('link', { name: said.connect, exact: true }).first().click();
}

export async function logIn(
  page: Page,
  { email, password }: Pick<DemoUser, 'email' | 'password'>,
  said: Words = words.en,
): Promise<void> {
  await page.getByLabel(said.email).fill(email);
  await page.getByLabel(said.password).fill(password);
  await page.getByRole('button', { name: said.logIn, exact: true }).click();
}

export async function decide(page: Page, decision: 'allow' | 'deny', said: Words = words.en): Promise<void> {
  await page.getByRole('button', { name: said[decision], exact: true }).click();
}

/** Presses `again` until the partner shows who is connected: consent may stand from an earlier test. */
export async function agreeIfAsked(page: Page, said: Words = words.en): Promise<void> {
  const allow = page.getByRole('button', { name: said.allow, exact: true });
  const events = page.getByRole('link', { name: said.events });
  await allow.or(events).first().waitFor();
  if (await allow.isVisible()) await allow.click();
  await events.waitFor();
}

/** Connects `user` from the first page to the last. */
export async function connectAs(page: Page, user: DemoUser, said: Words = words.en): Promise<void> {
  await connect(page, said);
  await logIn(page, user, said);
  await agreeIfAsked(page, said);
}

export async function heading(page: Page): Promise<string> {
  return (await page.getByRole('heading', { level: 1 }).textContent())?.trim() ?? '';
}

/** The page is the partner's and shows who is connected. */
export async function expectConnected(page: Page, user: DemoUser): Promise<void> {
  expect(new URL(page.url()).origin).toBe(partnerOrigin());
  expect(await heading(page)).toContain(user.name || user.email);
}

/** Withdraws every consent, so that the next connection asks. The stack under test has to be our own. */
export async function withdrawConsents(): Promise<void> {
  const client = new Client({ connectionString: stack.postgres });
  await client.connect();
  await client.query('UPDATE identity.consents SET withdrawn_at = now() WHERE withdrawn_at IS NULL');
  await client.end();
}

/** The address of an authorization request of `partner`, whose redirect URI is answered in the browser itself. */
export async function silentRequest(
  page: Page,
  partner: Partner,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  await page.route(`${silentCallback}**`, (route) => route.fulfill({ body: 'back at the partner' }));
  return authorizeUrl(`${stack.issuer}/authorize`, partner, { redirect_uri: silentCallback, ...parameters });
}
