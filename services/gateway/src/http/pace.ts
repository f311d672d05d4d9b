// Reads the requests of a network for some time in each turn, so that a burst from it keeps no other waiting (R14.11). A turn
// is an iteration of the event loop, or several while connections wait to be accepted.
import type { Socket } from 'node:net';

/** Milliseconds of a turn: some 100 requests once their code is compiled, and few before. */
const mostInTurn = 20;
/** Connections that a turn begins with. */
const openInTurn = 64;
/** Node accepts one connection in an iteration of its event loop. While some come no new turn begins, for so many milliseconds. */
const mostAccepting = 250;

interface Network {
  /** Connections that are read as usual, the one that sent a request last at the end. */
  readonly free: Set<Socket>;
  /** Those that wait for a turn, the next one first, and of them those that are read in this one. */
  readonly held: Set<Socket>;
  open: readonly Socket[];
  /** Since when requests are read in this turn; none have come yet if undefined. */
  since: number | undefined;
}

/** `now`: milliseconds on any clock. */
export function createPace(now: () => number) {
  const networks = new Map<string, Network>();
  const due = new Set<Network>();
  let isAccepting = false;
  let openedAt = now();

  const untilNextTurn = (network: Network): void => {
    if (due.size === 0) setImmediate(nextTurn);
    due.add(network);
  };
  const nextTurn = (): void => {
    const waits = isAccepting && now() - openedAt < mostAccepting;
    isAccepting = false;
    if (waits) return void setImmediate(nextTurn);
    openedAt = now();
    const turn = [...due];
    due.clear();
    for (const network of turn) {
      network.since = undefined;
      release(network, network.open);
      network.open = [...network.held.values().take(openInTurn)];
      for (const socket of network.open) socket.resume();
      if (network.held.size > 0) untilNextTurn(network);
    }
  };

  /** For a new connection from `name`. Call what it returns for each of its requests. */
  return (name: string, socket: Socket): (() => void) => {
    isAccepting = true;
    const network = networks.get(name) ?? newNetwork();
    networks.set(name, network);
    const { free, held } = network;
    if (held.size === 0) free.add(socket);
    else {
      // Its first requests would otherwise be read before the next connection is accepted. Node resumes it in a tick.
      held.add(socket);
      process.nextTick(() => socket.pause());
    }
    socket.once('close', () => {
      free.delete(socket);
      held.delete(socket);
      if (free.size + held.size === 0) networks.delete(name);
    });
    return () => {
      const queue = held.has(socket) ? held : free;
      queue.delete(socket);
      queue.add(socket);
      network.since ??= now();
      untilNextTurn(network);
      if (now() - network.since >= mostInTurn) hold(network);
    };
  };
}

function newNetwork(): Network {
  return { free: new Set(), held: new Set(), open: [], since: undefined };
}

function release({ free, held }: Network, sockets: readonly Socket[]): void {
  for (const socket of sockets) if (held.delete(socket)) free.add(socket);
}

/** Also what the event loop has bytes for already. A connection that Node has paused, for a body that nobody reads, is left to Node. */
function hold(network: Network): void {
  const { free, held, open } = network;
  network.open = [];
  release(
    network,
    open.filter((socket) => socket.isPaused()),
  );
  for (const socket of open) if (held.has(socket)) socket.pause();
  for (const socket of free) {
    if (socket.isPaused()) continue;
    free.delete(socket);
    held.add(socket);
    socket.pause();
  }
}
