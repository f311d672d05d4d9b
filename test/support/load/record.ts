// What came of a load: each operation with its time, each failure with its moment and reason.

export type OperationName = 'refresh' | 'events' | 'login' | 'replay';

export interface Failure {
  readonly at: string;
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
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

export interface LoadRecord {
  readonly failures: readonly Failure[];
  /** Runs the operation; it fails by throwing. Says whether it went well. */
  readonly measure: (operation: OperationName, run: () => Promise<void>) => Promise<boolean>;
  readonly countDoubleSpend: () => void;
  readonly report: () => LoadReport;
}

export function openRecord(): LoadRecord {
  const begun = performance.now();
  const operations = { refresh: 0, events: 0, login: 0, replay: 0 };
  const failures: Failure[] = [];
  const times: number[] = [];
  let doubleSpends = 0;

  async function measure(operation: OperationName, run: () => Promise<void>): Promise<boolean> {
    operations[operation] += 1;
    const from = performance.now();
    try {
      await run();
      return true;
    } catch (error) {
      failures.push({ at: new Date().toISOString(), operation, what: reasonOf(error) });
      return false;
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
      median: at(0.5),
      p99: at(0.99),
      longest: at(1),
    };
  }

  return {
    failures,
    measure,
    countDoubleSpend: () => {
      doubleSpends += 1;
    },
    report,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return `${code ? `${code} ` : ''}${error.message}`.slice(0, 300);
}
