// The pages in English: the texts that every language must have.
import { type Html, html } from '../html.ts';

export type Messages = typeof en;

export const en = {
  serviceName: 'Course Exchange',
  title: (page: string, partner: string | undefined) =>
    `${page}${partner ? ` – ${partner}` : ''} – Course Exchange`,
  links: { label: 'About this service', privacy: 'Privacy notice', imprint: 'Imprint', support: 'Support' },
  problem: 'There is a problem',
  reference: 'Reference for support',
  signedInAs: 'Signed in as',
  anotherAccount: 'Sign out and use another account',
  backTo: (partner: Html) => html`Cancel and go back to ${partner}`,
  login: {
    heading: 'Log in',
    intro: (partner: Html) =>
      html`<strong>${partner}</strong> would like to connect to your account. Log in to continue. Nothing new is shared until you agree.`,
    email: 'E-mail address',
    password: 'Password',
    forgetMe: 'This is a shared computer',
    forgetMeHint: 'Do not keep me signed in',
    button: 'Log in',
    forgotten: 'Forgot your password?',
    neverSees: (partner: Html) => html`${partner} never sees your password.`,
    wrong: 'The e-mail address or the password is incorrect.',
    typeAgain: 'Check your e-mail address and password, then try again.',
    again: 'This page was out of date and has been renewed. Please enter your password again.',
    emailMissing: 'Enter your e-mail address.',
    passwordMissing: 'Enter your password.',
    tooLong: 'This is too long. Check it and try again.',
    throttled: (seconds: number) => `Too many failed attempts. ${tryAgainIn(seconds)}`,
    /** Failures from anywhere (R30.16). */
    attacked: (seconds: number) =>
      `Too many failed attempts for this account, also from elsewhere. ${tryAgainIn(seconds)} There is no wait in a browser or a network where you have logged in within the last 30 days. If you have none, ask support.`,
  },
  account: {
    heading: 'Continue with this account?',
    intro: (partner: Html) => html`<strong>${partner}</strong> would like to connect to your account.`,
    proceed: (name: Html) => html`Continue as ${name}`,
  },
  consent: {
    title: 'Access to your course designs',
    titleNothing: 'A connection that shares nothing',
    heading: (partner: Html) => html`${partner} would like to read your events and course designs`,
    headingNothing: (partner: Html) => html`${partner} would like to connect to your account`,
    /** `scopes` is what is asked for in addition, as HTML. */
    more: (partner: Html, scopes: string) =>
      html`You agreed to a connection with ${partner} before. This time it also asks for ${scopes}.`,
    /** After `more`, when it releases nothing new (R6.8). */
    moreOfTheSame: 'Nothing more is shared than before.',
    scopes: { openid: 'your events and course designs', email: 'your e-mail address', profile: 'your name' },
    shared: (partner: Html) => html`What ${partner} will see`,
    events: html`<strong>Your events:</strong> name, dates, last change, number of designs and an identifier`,
    designs: html`<strong>Your course designs, in summary:</strong> title, event and its date, last change, author’s name, short description and identifiers`,
    name: html`<strong>Your name</strong>`,
    email: html`<strong>Your e-mail address,</strong> and whether it is confirmed`,
    identifier: (partner: Html) =>
      html`<strong>An identifier for your account,</strong> so that ${partner} recognises you next time`,
    whatever: 'Your name and e-mail address are always shared.',
    /** Replaces that list without `openid` (R6.9). */
    nothing: (partner: Html) =>
      html`<strong>Nothing.</strong> ${partner} will not be able to see your name, your e-mail address, your events or your course designs.`,
    never: (partner: Html) => html`What ${partner} never gets`,
    /** The first four are always shown; `neverMore` opens the rest. */
    neverList: [
      'The course itself: its geometry and route, obstacles and groups, arena layout and drawings',
      'Files: PDFs, previews, images or links to download them',
      'A way to create, change, delete or upload anything',
      'Your password, or the sessions and keys (tokens) with which you use our platform',
      'Notifications when you change something',
      'Designs of other people, your team or your organisation, even shared or public ones',
      'Designs that you have deleted, or that belong to no event',
      'Your competitions, activities or saved destinations',
      'Your subscription and payments, or more of your profile than is listed here',
    ],
    neverMore: 'Show everything that is never shared',
    /** First in that list without `openid`. */
    neverOpened: 'Your name and e-mail address, your events and course designs',
    until: 'How long it lasts',
    untilText: (partner: Html) =>
      html`Your consent lasts until you withdraw it. If ${partner} is not used for 30 days, you will have to log in again.`,
    /** The only way to withdraw (specification §1). */
    withdraw: (contact: Html) => html`To withdraw it, write to ${contact}.`,
    support: 'our support',
    operator: 'the operator of Course Exchange',
    after: (partner: Html) => html`Access ends within 15 minutes. ${partner} keeps what it has already read.`,
    disconnect: (partner: Html) =>
      html`Disconnecting in ${partner} removes its access. It can reconnect without asking you again.`,
    allow: 'Allow',
    deny: 'Do not allow',
  },
  signOut: {
    heading: 'Sign out',
    button: 'Sign out',
    connected: 'Applications that you connected stay connected.',
  },
  signedOut: {
    heading: 'You are signed out',
    text: 'You are not signed in to Course Exchange in this browser.',
    connected: 'Applications that you connected stay connected. You can close this page.',
  },
  expired: {
    heading: 'This page is no longer valid',
    text: 'It has expired, was already used, or was started in a different browser.',
    next: 'Go back to the application that you came from and start again.',
  },
  noCookies: {
    heading: 'Your browser does not keep our cookies',
    text: 'It blocks cookies from this site, or they have just been deleted. Without them nobody can log in here.',
    next: 'Allow cookies for this site. Then go back to the application that you came from and start again.',
  },
  start: {
    heading: 'This is a login service',
    text: 'Applications send you here when you connect them to your account. This address alone leads nowhere.',
    next: 'Go back to the application that you want to connect and start there.',
  },
  unavailable: {
    heading: 'We cannot continue right now',
    text: 'Part of our service is not responding. This is our fault and usually lasts less than a minute.',
    next: 'Please wait a moment, then try again.',
    again: 'Try again',
  },
};

function tryAgainIn(seconds: number): string {
  return `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
}
