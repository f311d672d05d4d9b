// What a person does between the demo partner and the pages of the service, by what the pages say.
import { withClient } from '@course-exchange/local-stack/postgres';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { messagesFor } from '../../services/demo-partner/src/pages.ts';
import { de } from '../../services/gateway/src/pages/messages/de.ts';
import { en } from '../../services/gateway/src/pages/messages/en.ts';
import { authorizeUrl } from '../support/flow.ts';
import { type DemoUser, type Partner, runningStack } from '../support/stack-file.ts';
import { silentCallback } from './browser.ts';

export const stack = runningStack();
export function partnerOrigin(): string {
  if (!stack.demoPartner) throw new Error('The stack file names no demo partner.');
  return stack.demoPartner;
}

/** Both services' own tables, so that a better wording breaks no test. */
export const words = {
  en: { ...en, partner: messagesFor('en-GB'), asks: /would like to read your events and course designs/ },
  de: { ...de, partner: messagesFor('de-DE'), asks: /möchte Ihre Veranstaltungen und Parcourspläne lesen/ },
};
export type Words = (typeof words)['en' | 'de'];

/** Opens the demo partner and presses Connect; who is connected already goes where the button leads. */
export async function connect(page: Page, said: Words = words.en): Promise<void> {
  await page.goto(`${partnerOrigin()}/`);
  const button = page.getByRole('link', { name: said.partner.connect, exact: true });
  if (await button.count()) await button.first().click();
  else await page.goto(`${partnerOrigin()}/connect`);
}

export async function logIn(
  page: Page,
  { email, password }: Pick<DemoUser, 'email' | 'password'>,
  said: Words = words.en,
): Promise<void> {
  await page.getByLabel(said.login.email).fill(email);
  await page.getByLabel(said.login.password).fill(password);
  await page.getByRole('button', { name: said.login.button, exact: true }).click();
}

export async function decide(page: Page, decision: 'allow' | 'deny', said: Words = words.en): Promise<void> {
  await page.getByRole('button', { name: said.consent[decision], exact: true }).click();
}

export async function arrive(page: Page, said: Words = words.en): Promise<void> {
  const title = { level: 1, name: said.partner.eventsTitle, exact: true };
  await page.getByRole('heading', title).waitFor();
  await page.waitForLoadState();
}

/** The heading of a page that has come as a whole. */
export async function heading(page: Page): Promise<string> {
  await page.waitForLoadState();
  return (await page.getByRole('heading', { level: 1 }).textContent())?.trim() ?? '';
}

/** The page is the partner's, whose first page shows who is connected. */
export async function expectConnected(page: Page, user: DemoUser): Promise<void> {
  expect(new URL(page.url()).origin).toBe(partnerOrigin());
  await page.goto(`${partnerOrigin()}/`);
  expect(await heading(page)).toContain(user.name || user.email);
}

/** Withdraws every consent, so that the next connection asks. The stack under test has to be our own. */
export async function withdrawConsents(): Promise<void> {
  const withdraw = 'update identity.consents set withdrawn_at = now() where withdrawn_at is null';
  await withClient(`${stack.postgres}`, (client) => client.query(withdraw));
}

/** The address of an authorization request of `partner`; its redirect URI is answered by the browser's setting. */
export function silentRequest(partner: Partner, parameters: Readonly<Record<string, string>> = {}): string {
  return authorizeUrl(`${stack.issuer}/authorize`, partner, { redirect_uri: silentCallback, ...parameters });
}
