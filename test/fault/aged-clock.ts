// The time as the signing keys have it: the waits of a rotation (310 s, 960 s) are not waited for, the rows of the
// keys are made older instead. What the pods do by themselves takes its real time.
import type pg from 'pg';

/** Seconds since the epoch on the aged clock; not a point where the keys were just being made older. */
export interface Moment {
  readonly earliest: number;
  readonly latest: number;
}

export type AgedClock = ReturnType<typeof openAgedClock>;

const waits = {
  published_at: `state = 'staged'`,
  superseded_at: `state = 'superseded'`,
};

/** `database` must be allowed to write the keys and do nothing else meanwhile. */
export function openAgedClock(database: pg.Client) {
  const offset = { earliest: 0, latest: 0 };
  return {
    moment: () => {
      const now = Date.now() / 1_000;
      return { earliest: now + offset.earliest, latest: now + offset.latest };
    },
    /** Makes all keys older until `column` of the youngest key that waits for its next step lies `seconds` back. */
    ageUntil: async (column: 'published_at' | 'superseded_at', seconds: number) => {
      const { rows } = await database.query(
        `select ($1 - extract(epoch from clock_timestamp() - max(${column})))::float8 as missing
         from signing_keys where ${waits[column]}`,
        [seconds],
      );
      const missing = Math.max(0, Number(rows[0]?.missing));
      offset.latest += missing;
      await database.query(
        `update signing_keys set published_at = published_at - make_interval(secs => $1),
           activated_at = activated_at - make_interval(secs => $1),
           superseded_at = superseded_at - make_interval(secs => $1)`,
        [missing],
      );
      offset.earliest += missing;
    },
  };
}
