// What a write changed, in the form in which the audit log and the caller are told: field by field.

/** One field; `before` and `after` are JSON texts, undefined where the field was not or is no more. */
export interface FieldChange {
  readonly field: string;
  readonly before?: string;
  readonly after?: string;
}

export interface Change {
  /** Noun and verb: `client.edit`. */
  readonly action: string;
  /** Kind and identifier: `client:acme`. */
  readonly object: string;
  /** The client concerned, when one is. */
  readonly clientId?: string;
  readonly fields: readonly FieldChange[];
}

/** Values of an object's fields; nothing secret, and personal ones already hashed. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields that differ, in the order of `after`. Undefined, null and '' count as absent. */
export function fieldChanges(before: Fields, after: Fields): FieldChange[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names].flatMap((field) => {
    const [from, to] = [jsonOf(before[field]), jsonOf(after[field])];
    if (from === to) return [];
    return [
      { field, ...(from === undefined ? {} : { before: from }), ...(to === undefined ? {} : { after: to }) },
    ];
  });
}

function jsonOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : JSON.stringify(value);
}
