// The login form, with the errors of the last attempt.
import type { LoginView } from '@course-exchange/proto/identity/v1/authorization';
import { type Html, html, nameOf } from './html.ts';
import {
  cancelForm,
  form,
  type InteractionFields,
  type PageLayout,
  renderPage,
  signedInOrAnother,
} from './layout.ts';
import type { Messages } from './messages/en.ts';

export interface LoginProblem {
  readonly email?: string;
  readonly password?: string;
  readonly both?: string;
  readonly again?: string;
}

/** `account` is set when a signed-in user is asked again (R5.3). */
export interface LoginContent extends InteractionFields, Pick<LoginView, 'account' | 'email'> {
  readonly forgetMe?: boolean;
  readonly problem?: LoginProblem;
}

export function loginPage(layout: PageLayout, content: LoginContent): string {
  const { messages } = layout.language;
  const { login } = messages;
  const { email, partner, problem } = content;
  const { passwordReset } = layout.links;
  const passwordError = problem?.password ?? (problem?.both && problem.again);
  // Of type "email" Chromium would send another domain for some: straße.example as strasse.example.
  const fields = html`<div class="field">
<label for="email">${login.email}</label>
${problem?.email && html`<p class="error" id="email-error">${problem.email}</p>`}
<input type="text" inputmode="email" id="email" name="email" value="${email}" autocomplete="username" autocapitalize="none" spellcheck="false" required${errorLink('email', problem)}>
</div>
<div class="field">
<label for="password">${login.password}</label>
${passwordError && html`<p class="error" id="password-error">${passwordError}</p>`}
<input type="password" id="password" name="password" autocomplete="current-password" required${errorLink('password', problem)}>
</div>
${passwordReset && html`<p class="aside"><a href="${passwordReset}">${login.forgotten}</a></p>`}
<div class="choice"><input type="checkbox" id="forget-me" name="forget_me" value="yes"${content.forgetMe && html` checked`}>
<label for="forget-me">${login.forgetMe} <span class="hint">${login.forgetMeHint}</span></label></div>
<button class="primary" type="submit">${login.button}</button>
<p class="hint note">${login.neverSees(nameOf(partner))}</p>`;
  const main = html`<h1>${login.heading}</h1>
${problem && problemSummary(messages, problem)}
${content.account && signedInOrAnother(messages, content)}
<p>${login.intro(nameOf(partner))}</p>
${form('/login', content, fields)}
${cancelForm(messages, content)}`;
  return renderPage(layout, { name: login.heading, partner, main });
}

/** Takes the focus, so that a screen reader starts with the errors. */
function problemSummary(messages: Messages, { both, email, password }: LoginProblem): Html {
  return html`<div class="problem" role="alert" tabindex="-1" autofocus>
<h2>${messages.problem}</h2>
<ul id="problem">${both && html`<li>${both}</li>`}
${email && html`<li><a href="#email">${email}</a></li>`}
${password && html`<li><a href="#password">${password}</a></li>`}</ul>
</div>`;
}

function errorLink(field: 'email' | 'password', problem: LoginProblem | undefined): Html | undefined {
  if (problem?.[field]) return html` aria-invalid="true" aria-describedby="${field}-error"`;
  if (!problem?.both) return undefined;
  return problem.again
    ? html` aria-invalid="true" aria-describedby="problem password-error"`
    : html` aria-describedby="problem"`;
}
