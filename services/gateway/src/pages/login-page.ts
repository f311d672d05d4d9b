// The login form, with the errors of the last try beside the fields.
import type { AccountSummary } from '@course-exchange/proto/identity/v1/authorization';
import { type Frame, renderPage } from './frame.ts';
import { type Html, html, nameOf } from './html.ts';
import type { Messages } from './messages/messages.ts';
import { cancelForm, type FormBinding, formAddress, hiddenFields, signedInOrAnother } from './parts.ts';

/** What is wrong with a field, or with both together. */
export interface LoginProblem {
  readonly email?: string;
  readonly password?: string;
  readonly both?: Html | string;
  /** Beside the fields, when what was typed is wrong together. */
  readonly again?: string;
}

export interface LoginContent extends FormBinding {
  readonly partner: string;
  /** Who is signed in and asked again (R5); undefined when nobody is. */
  readonly account: AccountSummary | undefined;
  readonly email: string;
  readonly forgetMe: boolean;
  readonly problem: LoginProblem | undefined;
}

export function loginPage(frame: Frame, content: LoginContent): string {
  const { messages } = frame.language;
  const { login } = messages;
  const main = html`<h1>${login.heading}</h1>
${content.problem && problemSummary(messages, content.problem)}
${content.account && signedInOrAnother(messages, content.account, content)}
<p>${login.intro(nameOf(content.partner))}</p>
<form method="post" action="${formAddress('/login', content)}" novalidate>
${hiddenFields(content)}
${emailField(login, content)}
${passwordField(login, content.problem)}
${passwordReset(login, frame.links.passwordReset)}
<div class="choice"><input type="checkbox" id="forget-me" name="forget_me" value="yes"${content.forgetMe && html` checked`}>
<label for="forget-me">${login.forgetMe} <span class="hint">${login.forgetMeHint}</span></label></div>
<button class="primary" type="submit">${login.button}</button>
<p class="hint note">${login.neverSees(nameOf(content.partner))}</p>
</form>
${cancelForm(messages, content.partner, content)}`;
  return renderPage(frame, { name: login.heading, partner: content.partner, main });
}

type LoginMessages = Messages['login'];

/** Takes the focus, so that a screen reader begins with what went wrong. */
function problemSummary(messages: Messages, problem: LoginProblem): Html {
  const items = [
    problem.both && html`<li>${problem.both}</li>`,
    problem.email && html`<li><a href="#email">${problem.email}</a></li>`,
    problem.password && html`<li><a href="#password">${problem.password}</a></li>`,
  ];
  return html`<div class="problem" role="alert" tabindex="-1" autofocus>
<h2>${messages.problem}</h2>
<ul id="problem">${items.map((item) => item || undefined)}</ul>
</div>`;
}

function emailField(login: LoginMessages, { email, problem }: LoginContent): Html {
  return html`<div class="field">
<label for="email">${login.email}</label>
${problem?.email && html`<p class="error" id="email-error">${problem.email}</p>`}
<input type="email" id="email" name="email" value="${email}" autocomplete="username" autocapitalize="none" spellcheck="false" required${errorLink('email', problem)}>
</div>`;
}

function passwordField(login: LoginMessages, problem: LoginProblem | undefined): Html {
  const error = problem?.password ?? (problem?.both && problem.again);
  return html`<div class="field">
<label for="password">${login.password}</label>
${error && html`<p class="error" id="password-error">${error}</p>`}
<input type="password" id="password" name="password" autocomplete="current-password" required${errorLink('password', problem)}>
</div>`;
}

/** A field that is wrong by itself names its own sentence; one that is wrong with the other, the summary's. */
function errorLink(field: 'email' | 'password', problem: LoginProblem | undefined): Html | undefined {
  if (problem?.[field]) return html` aria-invalid="true" aria-describedby="${field}-error"`;
  if (!problem?.both) return undefined;
  return problem.again
    ? html` aria-invalid="true" aria-describedby="problem password-error"`
    : html` aria-describedby="problem"`;
}

function passwordReset(login: LoginMessages, href: string | undefined): Html | undefined {
  return href ? html`<p class="aside"><a href="${href}">${login.forgotten}</a></p>` : undefined;
}

/** When the next try is looked at (R30): in how many seconds, and the moment, since a page may lie open. */
export function nextTry({ login }: Messages, seconds: number, now: number): Html {
  const moment = new Date(now + seconds * 1000).toISOString();
  const time = html`<time datetime="${moment}">${moment.slice(11, 19)} UTC</time>`;
  return login.throttled(seconds, time);
}
