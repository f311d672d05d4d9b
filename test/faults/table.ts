// The table: for each target and fault what may be answered, what ends the fault, how long that takes, and how soon all is
// well. Data alone.

/** `login` begins with a password, `authorize` in a browser that is logged in: both end with a code. */
export const kinds = [
  'exchange',
  'refresh',
  'login',
  'authorize',
  'user-info',
  'wrong secret',
  'events',
  'designs',
  'forged token',
  'discovery',
  'keys',
] as const;
export type Kind = (typeof kinds)[number];

export type FaultName =
  | 'killed'
  | 'frozen'
  | 'restarted'
  | 'cut off'
  | 'far away'
  | 'out of disk'
  | 'replaced by its replica'
  | 'rotated'
  | 'standing still'
  | 'busy'
  | 'upgraded'
  | 'upgraded with wrong passwords'
  | 'rolled back'
  | 'scaled'
  | 'with one pod of each deleted'
  | 'drained'
  | 'spread over the nodes'
  | 'recertified';
/** `identity`: one of two. `redis`: the primary. On a cluster there are two of each service, and a second node. */
export type PartName =
  | 'gateway'
  | 'identity'
  | 'every identity'
  | 'design-catalog'
  | 'redis'
  | 'replica of redis'
  | 'postgres'
  | 'signing keys'
  | 'machine'
  | 'node'
  | 'release';

export interface Row {
  readonly part: PartName;
  readonly fault: FaultName;
  /** None of these goes well while it lasts. */
  readonly fails: readonly Kind[];
  /** Some of these may fail, too. */
  readonly disturbs: readonly Kind[];
  /** At most this many of them; by default all. */
  readonly mostFailures?: number;
  /** What a failure looks like: the answer of R14.1, or none where nothing of ours is left to give one. */
  readonly as: readonly ('unavailable' | 'none')[];
  /** A code or token whose operation failed may be spent. Else it is good, and a refusal of it a violation. */
  readonly spends: boolean;
  /** What was not acknowledged may be undone, and with it what was refused because of it. */
  readonly undoes: boolean;
  /** A twin takes over: after so long nothing fails any more, though the fault lasts. */
  readonly settlesMs?: number;
  /** It lasts so long; else until every kind of operation has met it. */
  readonly lastsMs?: number;
  /** What the nemesis has observed when it says that it is over. */
  readonly ends: string;
  /** Milliseconds from its healing until then, at most: three times what was observed. */
  readonly endsMs: number;
  /** From then on something may fail for so long. */
  readonly recoversMs: number;
}

const tokens: readonly Kind[] = ['exchange', 'refresh'];
const ofRedis: readonly Kind[] = [...tokens, 'login', 'authorize'];
const ofIdentity: readonly Kind[] = [...ofRedis, 'user-info', 'wrong secret'];
const lists: readonly Kind[] = ['events', 'designs'];
const ofCatalog: readonly Kind[] = [...lists, 'forged token'];
const ofPostgres: readonly Kind[] = [...ofIdentity, ...lists];

type Rest = Partial<Row> & Pick<Row, 'ends'>;

function row(part: PartName, fault: FaultName, rest: Rest): Row {
  const usual = { fails: [], disturbs: [], as: ['unavailable'], spends: false, undoes: false } as const;
  return { part, fault, ...usual, endsMs: 15_000, recoversMs: 3_000, ...rest };
}

const ready = 'it is ready';
const synced = 'the replica is in sync';
const restored = 'the connections may be made';

const gateway = { fails: kinds, as: ['none', 'unavailable'], spends: true } as const;
const catalog = { fails: ofCatalog };
const redis = { fails: ofRedis, spends: true };
const postgres = { fails: ofPostgres };
/** Nothing may fail. */
const unnoticed = { lastsMs: 0 } as const;
const twin = { disturbs: ofIdentity, spends: true };

const local: readonly Row[] = [
  row('gateway', 'killed', { ...gateway, ends: ready }),
  // Longer than a partner waits for its answer.
  row('gateway', 'frozen', { ...gateway, lastsMs: 7_000, ends: ready }),
  row('gateway', 'restarted', { ...gateway, ends: ready }),
  row('identity', 'killed', { ...twin, settlesMs: 2_000, ends: ready }),
  row('identity', 'frozen', { ...twin, settlesMs: 5_000, ends: ready }),
  row('identity', 'restarted', { settlesMs: 0, ends: ready }),
  row('identity', 'cut off', { ...twin, settlesMs: 2_000, ends: restored }),
  row('every identity', 'killed', { ...twin, fails: ofIdentity, ends: ready }),
  row('design-catalog', 'killed', { ...catalog, ends: ready }),
  row('design-catalog', 'frozen', { ...catalog, ends: ready }),
  row('design-catalog', 'restarted', { ...catalog, ends: ready }),
  row('design-catalog', 'cut off', { ...catalog, ends: restored }),
  row('redis', 'killed', { ...redis, ends: synced }),
  row('redis', 'frozen', { ...redis, ends: synced }),
  row('redis', 'cut off', { ...redis, ends: restored }),
  row('redis', 'out of disk', { ...redis, ends: synced }),
  row('redis', 'replaced by its replica', { ...redis, undoes: true, ends: synced }),
  row('replica of redis', 'killed', { ...redis, ends: synced }),
  row('replica of redis', 'frozen', { ...redis, fails: tokens, disturbs: ofRedis, ends: synced }),
  row('postgres', 'killed', { ...postgres, ends: ready }),
  row('postgres', 'frozen', { ...postgres, ends: ready }),
  row('postgres', 'restarted', { ...postgres, ends: ready }),
  row('postgres', 'cut off', { ...postgres, ends: restored }),
  ...(['postgres', 'redis', 'design-catalog'] as const).map((part) =>
    row(part, 'far away', { ends: 'it is near' }),
  ),
  // It waits for 30 s.
  row('signing keys', 'rotated', { ...unnoticed, endsMs: 40_000, ends: 'the pods had their time to follow' }),
  row('machine', 'standing still', {
    disturbs: kinds,
    spends: true,
    lastsMs: 3_000,
    ends: 'all of it is ready',
  }),
];

const connected = 'it has its network again';

/** To lose the network is a black hole here: nothing is reset. */
const containers: readonly Row[] = [
  row('design-catalog', 'cut off', { ...catalog, ends: connected }),
  row('every identity', 'cut off', { ...twin, fails: ofIdentity, recoversMs: 5_000, ends: connected }),
  row('postgres', 'cut off', { ...postgres, ends: connected }),
  row('redis', 'cut off', { ...redis, ends: connected }),
  row('postgres', 'replaced by its replica', {
    ...postgres,
    recoversMs: 5_000,
    ends: 'the replica has its name',
  }),
];

/**
 * Pods that start take the node's two processors from those that serve, and from the ingress: a request may wait before a
 * gateway's clock runs, and of a hundred one or two get no answer before the partner gives up. A quiet machine shows none.
 */
const rolledOut = {
  ...unnoticed,
  disturbs: kinds,
  as: ['none', 'unavailable'],
  mostFailures: 15,
  spends: true,
  ends: 'the new pods are ready and the old ones gone',
  endsMs: 120_000,
} as const;
/** A kubelet starts it again, or sees that it answers. */
const pod = { endsMs: 40_000, ends: ready } as const;
const oneGateway = { ...pod, disturbs: kinds, as: ['none', 'unavailable'], spends: true } as const;

const cluster: readonly Row[] = [
  row('release', 'upgraded with wrong passwords', {
    ...unnoticed,
    endsMs: 90_000,
    ends: 'its Job has said why',
  }),
  row('release', 'upgraded', rolledOut),
  row('release', 'rolled back', rolledOut),
  // One pod of each is left, beside those that start: while it gets no processor the ingress has no other to ask.
  row('release', 'scaled', { ...rolledOut, mostFailures: 30, endsMs: 140_000, ends: 'it is as before' }),
  row('release', 'with one pod of each deleted', rolledOut),
  row('release', 'recertified', { ...unnoticed, endsMs: 30_000, ends: 'every pod has the certificates' }),
  row('machine', 'busy', {
    ...rolledOut,
    lastsMs: 20_000,
    endsMs: 15_000,
    ends: 'every pod has been ready all the time',
  }),
  row('design-catalog', 'killed', { ...unnoticed, ...pod }),
  row('identity', 'killed', { ...twin, ...pod, settlesMs: 3_000 }),
  row('identity', 'frozen', { ...twin, ...pod, settlesMs: 5_000 }),
  // The ingress asks one that is gone until its endpoint is, and one that hangs until it is not ready.
  row('gateway', 'killed', { ...oneGateway, settlesMs: 8_000 }),
  row('gateway', 'frozen', { ...oneGateway, settlesMs: 8_000 }),
];

const spread = row('release', 'spread over the nodes', {
  ...rolledOut,
  ends: 'each node has a pod of each service',
});

/** The second node has no store. */
const ofTwoNodes: readonly Row[] = [
  row('node', 'drained', { ...rolledOut, ends: 'the first node has all pods' }),
  spread,
  // Kubernetes misses it after 40 to 50 s, and replaces its pods 30 s later.
  row('node', 'cut off', {
    ...oneGateway,
    settlesMs: 55_000,
    lastsMs: 100_000,
    endsMs: 60_000,
    ends: 'the first node has all pods, and the other one is back',
  }),
  spread,
];

export const table = { local, containers, cluster, ofTwoNodes } as const;

/** A machine that stalls by itself for this long is such a fault, and for this long afterwards, in milliseconds. */
export const standstillMs = 300;
export const afterStandstillMs = 3_000;

/** Milliseconds for an answer (R14.2, R14.5); an operation of several requests has as much for all. */
export const answerMs = (kind: Kind): number => (kind === 'login' ? 10_000 : 2_000);
