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
    tooLong: 'This is longer than any that we know. Check it and try again.',
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
    more: (partner, scopes) => html`You agreed with ${partner} before. New this time: ${scopes}.`,
    scopes: { openid: 'events and course designs', email: 'e-mail address', profile: 'name' },
    shared: (partner) => html`What ${partner} will see`,
    events: html`<strong>Your events:</strong> name, dates, last change and number of designs`,
    designs: html`<strong>Your course designs, in summary:</strong> title, event, dates, author’s name and short description`,
    name: html`<strong>Your name</strong>`,
    email: html`<strong>Your e-mail address,</strong> and whether it is confirmed`,
    identifier: (partner) =>
      html`<strong>An identifier for your account,</strong> so that ${partner} recognises you next time`,
    whatever: 'Name and e-mail address are part of every connection, whether or not they were asked for.',
    never: (partner) => html`What ${partner} never gets`,
    neverList: [
      'The course itself: its route, obstacles, arena layout and drawings',
      'Files: PDFs, previews, images or downloads',
      'A way to create, change, delete or upload anything',
      'Designs of other people, your team or your organisation, even shared or public ones',
      'Designs that you have deleted, or that belong to no event',
      'Your password, subscription and payments, or more of your profile than is listed here',
    ],
    neverDesigns: 'Your events and course designs',
    until: 'How long it lasts',
    untilText: (partner) =>
      html`Until you withdraw it. It also ends by itself when ${partner} has not used it for 30 days.`,
    withdraw: (partner) => html`To withdraw, disconnect your account in ${partner},`,
    withdrawSupport: (link) => html` or contact ${link('our support')}.`,
    after: (partner) =>
      html`After that ${partner} can read for 15 minutes at most. What it has read by then stays with it.`,
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
