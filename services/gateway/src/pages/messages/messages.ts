// What every language says: one typed table. A language that lacks a sentence does not compile.
import type { Html } from '../html.ts';

/** Sentences with a name in it take the name as HTML, isolated by `nameOf`. */
type About = (partner: Html) => Html;

export interface Messages {
  readonly serviceName: string;
  /** Title of the browser's tab. */
  readonly title: (page: string, partner: string | undefined) => string;
  readonly links: {
    readonly label: string;
    readonly privacy: string;
    readonly imprint: string;
    readonly support: string;
  };
  readonly problem: string;
  readonly reference: string;
  readonly signedInAs: string;
  readonly anotherAccount: string;
  readonly backTo: About;
  readonly login: LoginMessages;
  readonly account: {
    readonly heading: string;
    readonly intro: About;
    readonly proceed: (name: Html) => Html;
  };
  readonly consent: ConsentMessages;
  readonly signOut: { readonly heading: string; readonly button: string; readonly connected: string };
  readonly signedOut: { readonly heading: string; readonly text: string; readonly connected: string };
  readonly expired: ErrorMessages;
  readonly unavailable: ErrorMessages & { readonly again: string };
}

interface LoginMessages {
  readonly heading: string;
  readonly intro: About;
  readonly password: string;
  readonly email: string;
  readonly forgetMe: string;
  readonly forgetMeHint: string;
  readonly button: string;
  readonly forgotten: string;
  readonly neverSees: About;
  readonly wrong: string;
  /** Beside the fields, when they are wrong together. */
  readonly typeAgain: string;
  readonly emailMissing: string;
  readonly passwordMissing: string;
  readonly tooLong: string;
  /** `time` is the moment itself, ready to print. */
  readonly throttled: (seconds: number, time: Html) => Html;
}

interface ConsentMessages {
  /** For the browser's tab. */
  readonly title: string;
  readonly titleIdentity: string;
  readonly heading: About;
  readonly headingIdentity: About;
  /** Agreed before; `scopes` is what is asked for in addition this time, ready to print. */
  readonly more: (partner: Html, scopes: string) => Html;
  /** Beside `more`, where what is asked for in addition was released already (R6). */
  readonly moreOfTheSame: string;
  readonly scopes: { readonly openid: string; readonly email: string; readonly profile: string };
  readonly shared: About;
  readonly events: Html;
  readonly designs: Html;
  readonly name: Html;
  readonly email: Html;
  readonly identifier: About;
  readonly whatever: string;
  readonly never: About;
  readonly neverList: readonly string[];
  /** Heads that list when events and designs were not asked for. */
  readonly neverDesigns: string;
  readonly until: string;
  readonly untilText: About;
  /** The one way to withdraw (specification §1); `contact` is `support`, linked, or else `operator`. */
  readonly withdraw: (contact: Html) => Html;
  readonly support: string;
  readonly operator: string;
  readonly after: About;
  /** The same, where events and designs were not asked for: there is nothing to read. */
  readonly afterIdentity: About;
  readonly disconnect: About;
  readonly allow: string;
  readonly deny: string;
}

interface ErrorMessages {
  readonly heading: string;
  readonly text: string;
  readonly next: string;
}
