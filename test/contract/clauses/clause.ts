// The form of the clause list: one sentence of the specification or of a ruling that binds the server, by
// number. A test proves a clause by carrying its number in its name: `test('… [R7.3, R8.1]', …)`.

/** A part of the specification or a few rulings. Numbers are unique over all sections and never reused. */
export type ClauseSection = {
  readonly title: string;
  /** Provable over HTTP against any deployment (some need the store addresses of its stack file). */
  readonly outside: Readonly<Record<string, string>>;
  /** Provable only from within: stores, processes, logs, a real browser, faults. */
  readonly inside: Readonly<Record<string, string>>;
  /** Sentences that do not bind the server, each with the reason, so that nothing is dropped in silence. */
  readonly apart: readonly (readonly [sentence: string, reason: string])[];
};
