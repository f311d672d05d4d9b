// Faults of the way to a store that may be gone at the next try: the network of a new pod may need a moment.

/** Pauses before another try (ms). */
export const pauses: readonly number[] = [500, 1_500];

/** By the code of Node's sockets or resolver. */
export function isFaultOfTheWay(code: string): boolean {
  return /^(EAI_AGAIN|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/.test(code);
}
