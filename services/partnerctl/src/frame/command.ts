// What a command is: a declaration that help, completion and the parser read, and a function that answers.
import type { ServiceName } from '../connection/addresses.ts';
import type { Call } from './call.ts';
import type { Exit } from './exit-codes.ts';
import type { Operand, Operands, OperandValues, Option, Options, OptionValues } from './options.ts';

/** One answer: for programs under --json, and as text for people. */
export interface Answer {
  readonly json: unknown;
  readonly text: string;
  /** Where the answer is a bad one, such as a broken chain. */
  readonly exit?: Exit;
  /** `text` goes to standard error: standard output holds something else. */
  readonly aside?: true;
}

export interface Example {
  readonly does: string;
  /** The command line as it is typed. */
  readonly line: string;
}

interface Described {
  readonly name: string;
  readonly about: string;
  /** A paragraph more, for its own help. */
  readonly details?: string;
  readonly examples: readonly [Example, ...Example[]];
}

export interface CommandSpec<O extends Operands, P extends Options> extends Described {
  readonly operands: O;
  readonly options: P;
  /** It changes something: it has --dry-run. */
  readonly writes?: boolean;
  /** It asks before it does what cannot be undone: it has --yes. */
  readonly asks?: boolean;
  /** Whom it speaks to, for the message when nothing answers. */
  readonly service?: ServiceName;
  /** Undefined when it has printed its answer itself, line by line. */
  readonly run: (
    call: Call,
    operands: OperandValues<O>,
    options: OptionValues<P>,
  ) => Promise<Answer | undefined>;
}

/** A command whose words have not been read yet. */
export interface Command extends Described {
  readonly operands: readonly Operand[];
  readonly options: Options;
  readonly writes: boolean;
  readonly asks: boolean;
  readonly service: ServiceName;
  readonly run: (
    call: Call,
    operands: readonly (string | undefined)[],
    options: Readonly<Record<string, readonly string[] | undefined>>,
  ) => Promise<Answer | undefined>;
}

/** Commands about one thing. */
export interface Noun extends Described {
  readonly commands: readonly (Noun | Command)[];
}

export function command<const O extends Operands, const P extends Options>(spec: CommandSpec<O, P>): Command {
  const { operands, options, writes = false, asks = false, service = 'identity' } = spec;
  return {
    ...spec,
    writes,
    asks,
    service,
    operands: Object.values<Operand>(operands),
    run: (call, words, given) => {
      const named = Object.fromEntries(Object.keys(operands).map((name, at) => [name, words[at]]));
      const read = Object.entries<Option<unknown>>(options).map(([name, option]) => [
        name,
        option.read(given[name], flagOf(name)),
      ]);
      // The shape of both is what the declaration says; commander has refused an operand left out.
      return spec.run(call, named as OperandValues<O>, Object.fromEntries(read) as OptionValues<P>);
    },
  };
}

/** `expiresIn` is typed `--expires-in`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
