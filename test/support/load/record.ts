// What came of a load: each operation with its time, each failure with its moment and reason.

export type OperationName = 'refresh' | 'events' | 'login' | 'replay';

export interface Failure {
  readonly at: string;
  /** Milliseconds from its beginning until then. */
  readonly took: number;
  readonly operation: OperationName;
  /** A status or an error, never a token. */
  readonly what: string;
}

export interface LoadReport {
  readonly seconds: number;
  readonly operations: Readonly<Record<OperationName, number>>;
  readonly failures: readonly Failure[];
  /** Refresh tokens that were accepted twice. */
  readonly doubleSpends: number;
  /** Refresh tokens that were spent although no answer brought their successors: the failures that led there. */
  readonly lost: readonly Failure[];
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

export type LoadRecord = ReturnType<typeof openRecord>;

export function openRecord() {
  const begun = performance.now();
  const operations = { refresh: 0, events: 0, login: 0, replay: 0 };
  const [failures, lost]: [Failure[], Failure[]] = [[], []];
  const times: number[] = [];
  let doubleSpends = 0;

  async function measure(operation: OperationName, run: () => Promise<void>): Promise<Failure | undefined> {
    operations[operation] += 1;
    const from = performance.now();
    try {
      await run();
      return undefined;
    } catch (error) {
      const took = performance.now() - from;
      const failure = { at: new Date().toISOString(), took, operation, what: reasonOf(error) };
      failures.push(failure);
      return failure;
    } finally {
      times.push(performance.now() - from);
    }
  }

  function report(): LoadReport {
    const sorted = times.toSorted((one, other) => one - other);
    const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
    return {
      seconds: (performance.now() - begun) / 1_000,
      operations: { ...operations },
      failures: [...failures],
      doubleSpends,
      lost: [...lost],
      median: at(0.5),
      p99: at(0.99),
      longest: at(1),
    };
  }

  return {
    failures,
    /** Runs the operation; it fails by throwing. Gives the failure. */
    measure,
    countDoubleSpend: () => {
      doubleSpends += 1;
    },
    countLost: (failure: Failure) => {
      lost.push(failure);
    },
    report,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return `${code ? `${code} ` : ''}${error.message}`.slice(0, 300);
}
