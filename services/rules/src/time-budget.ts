// The time that each part of a request may take, in milliseconds (R14.2, R14.9). The numbers depend on one another; the test
// beside this file holds how.

export const timeBudget = {
  /** From a request to its answer at the gateway, by default. */
  answer: 1_800,
  /** The same for a login, which waits for a password to be hashed. */
  login: 10_000,
  /** What each hop keeps of the time that is left. */
  hop: 50,
  /**
   * Until there is a connection to Postgres. Above the second after which the system repeats a first packet that the network
   * lost.
   */
  connect: 1_500,
  /** A statement of design-catalog: its caller is told why it failed, and does not merely give up. */
  catalogStatement: 1_200,
  /** A statement or a command of identity, for the same reason. */
  identityStore: 1_000,
  /** Until design-catalog has a new key set from identity. */
  keySet: 600,
  /** Until the replicas of Redis confirm a write (decision 0010). */
  replicas: 500,
  /** What an answer needs to reach the partner after its grant was consumed. */
  wayBack: 300,
  /** A check of readiness. A probe waits for a second by default, and should read what failed. */
  check: 700,
} as const;
