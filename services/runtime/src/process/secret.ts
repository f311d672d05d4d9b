// A value that must never be printed: logging, JSON and inspection show a placeholder (R27).
import { inspect } from 'node:util';

const placeholder = '[secret]';

export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return placeholder;
  }

  readonly toJSON = this.toString;
  readonly [inspect.custom] = this.toString;
}
