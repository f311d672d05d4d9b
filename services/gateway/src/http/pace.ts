// Reads of a network some requests in a turn of the event loop, so that a burst from it keeps no other waiting (R14.11).
import type { Socket } from 'node:net';

/** Requests of a network read in a turn, some 25 ms of work. Honest clients rarely send as many at once. */
const readInTurn = 128;

interface Network {
  /** Connections that are read as usual, the one that sent a request last at the end. */
  readonly free: Set<Socket>;
  /** Those that wait for a turn, the next one first, and of them those that are read in this one. */
  readonly held: Set<Socket>;
  open: readonly Socket[];
  /** Requests in this turn. */
  read: number;
}

export function createPace() {
  const networks = new Map<string, Network>();
  const due = new Set<Network>();

  const untilNextTurn = (network: Network): void => {
    if (due.size === 0) setImmediate(nextTurn);
    due.add(network);
  };
  const nextTurn = (): void => {
    const turn = [...due];
    due.clear();
    for (const network of turn) {
      network.read = 0;
      release(network, network.open);
      network.open = [...network.held.values().take(readInTurn)];
      for (const socket of network.open) socket.resume();
      if (network.open.length > 0) untilNextTurn(network);
    }
  };

  /** For a new connection from `name`. Call what it returns for each of its requests. */
  return (name: string, socket: Socket): (() => void) => {
    const network = networks.get(name) ?? { free: new Set(), held: new Set(), open: [], read: 0 };
    networks.set(name, network);
    const { free, held } = network;
    free.add(socket);
    socket.once('close', () => {
      free.delete(socket);
      held.delete(socket);
      if (free.size + held.size === 0) networks.delete(name);
    });
    return () => {
      const queue = held.has(socket) ? held : free;
      queue.delete(socket);
      queue.add(socket);
      network.read += 1;
      untilNextTurn(network);
      if (network.read % readInTurn === 0) hold(network);
    };
  };
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
