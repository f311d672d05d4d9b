// Prepared statements over one connection that many reads share, with as little work for each as the protocol allows: its
// messages leave as one piece, and its columns were told when it ran first. Postgres refuses to run a prepared statement
// whose columns have changed since.
import pg from 'pg';

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}
type Values = readonly (string | null)[];

export interface PreparedReader {
  /** The answer to `query`, which comes after those to all that were sent before. */
  readonly read: (query: pg.QueryConfig) => Promise<{ readonly rows: unknown[] }>;
}

export function preparedReader(client: pg.Client): PreparedReader {
  /** By name of the statement. */
  const columns = new Map<string, readonly Column[]>();
  const parts: Buffer[] = [];
  /** The connection, but it keeps what is sent until the query is whole. */
  const collecting: pg.Connection & { describe: (message: object) => void } = Object.assign(
    Object.create(client.connection),
    { _send: (part: Buffer) => parts.push(part) },
  );
  const describe = collecting.describe;

  /** What pg calls on a query, of which its types name `submit` alone. */
  class Read extends pg.Query {
    readonly statement: string;
    readonly received: Values[] = [];

    constructor(query: pg.QueryConfig, answered: (error: Error | undefined) => void) {
      super(query, answered);
      this.statement = query.name ?? '';
    }

    prepare(): void {
      collecting.describe = columns.has(this.statement) ? () => {} : describe;
      prepare.call(this, collecting);
      // Asked for anew: TLS puts another in its place.
      const { stream } = client.connection;
      const bytes = Buffer.concat(parts.splice(0));
      if (stream.writable) stream.write(bytes);
    }

    handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
      const known = fields.map(({ name, dataTypeID }) => {
        return { name, parse: client.getTypeParser(dataTypeID, 'text') };
      });
      columns.set(this.statement, known);
    }

    handleDataRow({ fields }: { readonly fields: Values }): void {
      this.received.push(fields);
    }

    handleCommandComplete(): void {}

    result(): unknown[] {
      const known = columns.get(this.statement) ?? [];
      return this.received.map((values) => rowOf(known, values));
    }
  }

  return {
    read: (query) =>
      new Promise<Read>((resolve, reject) => {
        const read: Read = new Read(query, (error) => (error ? reject(error) : resolve(read)));
        client.query(read);
        // pg would end the process for what is thrown in its callback.
      }).then((read) => ({ rows: read.result() })),
  };
}

const { prepare } = pg.Query.prototype as unknown as { readonly prepare: (connection: object) => void };

function rowOf(columns: readonly Column[], values: Values): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const [at, { name, parse }] of columns.entries()) {
    const value = values[at];
    row[name] = value == null ? null : parse(value);
  }
  return row;
}
