// The pages in English.
import { html } from '../html.ts';
import type { Messages } from './messages.ts';

export const en: Messages = {
  serviceName: 'Course Exchange',
  title: (page, partner) => `${page}${partner ? ` – ${partner}` : ''} – Course Exchange`,
  links: {
    label: 'About this service',
    privacy: 'Privacy notice',
    imprint: 'Imprint',
    support: 'Support',
  },
  problem: 'There is a problem',
  reference: 'Reference for support',
  signedInAs: 'Signed in as',
  anotherAccount: 'Use another account',
  backTo: (partner) => html`Cancel and go back to ${partner}`,
  login: {
    heading: 'Log in',
    intro: (partner) =>
      html`<strong>${partner}</strong> would like to connect to your account. Log in to go on; nothing new is shared until you agree.`,
    email: 'E-mail address',
    password: 'Password',
    forgetMe: 'This is a shared computer',
    forgetMeHint: 'Do not keep me signed in',
    button: 'Log in',
    forgotten: 'Forgot your password?',
    neverSees: (partner) => html`${partner} never sees your password.`,
    wrong: 'The e-mail address or the password is not right.',
    typeAgain: 'Type it again, and check the e-mail address too.',
    emailMissing: 'Enter your e-mail address.',
    passwordMissing: 'Enter your password.',
    tooLong: 'This is too long. Check it and try again.',
    throttled: (seconds, time) =>
      html`Too many failed attempts. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}, from ${time} on.`,
  },
  account: {
    heading: 'Continue with this account?',
    intro: (partner) => html`<strong>${partner}</strong> would like to connect to your account.`,
    proceed: (name) => html`Continue as ${name}`,
  },
  consent: {
    title: 'Access to your course designs',
    titleIdentity: 'Access to your name and e-mail address',
    heading: (partner) => html`${partner} would like to read your events and course designs`,
    headingIdentity: (partner) => html`${partner} would like to know who you are`,
    more: (partner, scopes) =>
      html`You agreed to a connection with ${partner} before. This time it also asks for ${scopes}.`,
    moreOfTheSame: 'Nothing more is shared than before.',
    scopes: { openid: 'your events and course designs', email: 'your e-mail address', profile: 'your name' },
    shared: (partner) => html`What ${partner} will see`,
    events: html`<strong>Your events:</strong> name, dates, last change, number of designs and an identifier`,
    designs: html`<strong>Your course designs, in summary:</strong> title, event and its date, last change, author’s name, short description and identifiers`,
    name: html`<strong>Your name</strong>`,
    email: html`<strong>Your e-mail address,</strong> and whether it is confirmed`,
    identifier: (partner) =>
      html`<strong>An identifier for your account,</strong> so that ${partner} recognises you next time`,
    whatever: 'Name and e-mail address are part of every connection, whether or not they were asked for.',
    never: (partner) => html`What ${partner} never gets`,
    neverList: [
      'The course itself: its geometry and route, obstacles and groups, arena layout and drawings',
      'Files: PDFs, previews, images or links to download them',
      'A way to create, change, delete or upload anything',
      'A way to look up single designs or to filter them, or notice of your changes',
      'Designs of other people, your team or your organisation, even shared or public ones',
      'Designs that you have deleted, or that belong to no event',
      'Your competitions, activities or saved destinations',
      'Your subscription and payments, or more of your profile than is listed here',
      'Your password, or the sessions and keys (tokens) with which you use our platform',
    ],
    neverDesigns: 'Your events and course designs',
    until: 'How long it lasts',
    untilText: (partner) =>
      html`Your consent stays until it is withdrawn. After 30 days without use ${partner} must send you here again.`,
    withdraw: (contact) => html`To withdraw it, write to ${contact}.`,
    support: 'our support',
    operator: 'the operator of Course Exchange',
    after: (partner) =>
      html`${partner} can then read for 15 minutes at most. What it has read by then stays with it.`,
    afterIdentity: (partner) => html`What ${partner} knows by then stays with it.`,
    disconnect: (partner) =>
      html`Disconnecting in ${partner} deletes the access that it holds, but it may connect again without asking you.`,
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
    text: 'Nobody is signed in to Course Exchange in this browser.',
    connected: 'Applications that you connected stay connected. You can close this page.',
  },
  expired: {
    heading: 'This page is no longer valid',
    text: 'It has expired, was already used, or was opened in another browser than the one it began in.',
    next: 'Go back to the application that you came from and begin again.',
  },
  unavailable: {
    heading: 'We cannot go on just now',
    text: 'A part of our service does not answer. That is on our side, and usually over within a minute.',
    next: 'Please wait a moment, then try again.',
    again: 'Try again',
  },
};
