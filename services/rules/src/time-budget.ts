// The time budget of a request's parts, in milliseconds (R14.2, R14.9). Their dependencies are in the test beside this
// file.

export const timeBudget = {
  /** From a request to its answer at the gateway, by default. */
  answer: 1_800,
  /** The same for a login, which waits for a password hash. */
  login: 10_000,
  /** In the queue for a password hash: half of a login (R14.5). */
  passwordQueue: 5_000,
  /** Left when a request is admitted: a service counts from a call's arrival, and what it consumes must be answered. */
  admission: 900,
  /** Reserved by each hop from the remaining time. */
  hop: 50,
  /** To Postgres. More than the second after which a lost first packet is repeated. */
  connect: 1_500,
  /** A statement of design-catalog, which ends before its caller gives up. */
  catalogStatement: 1_200,
  /** A statement or command of identity, for the same reason. */
  identityStore: 1_000,
  /** Until design-catalog has a new key set from identity. */
  keySet: 600,
  /** Until the replicas of Redis confirm a write (decision 0010). */
  replicas: 500,
  /** For the answer to reach the partner after its grant was consumed. */
  wayBack: 300,
  /** A readiness check; a probe waits for a second by default. */
  check: 700,
} as const;
