// A capacity shared by networks (R14.10): a network is admitted while it holds less than four times what is free.
// Alone it can hold 80 %, two hold 44 % each, four 23 %.

const factor = 4;

export function fairCapacity(capacity: number) {
  const heldBy = new Map<string, number>();
  let held = 0;
  const add = (network: string, amount: number): void => {
    const own = (heldBy.get(network) ?? 0) + amount;
    if (own > 0) heldBy.set(network, own);
    else heldBy.delete(network);
    held += amount;
  };
  return {
    held: () => held,
    largestShare: (capacity * factor) / (factor + 1),
    acquire: (network: string, amount = 1): boolean => {
      const free = capacity - held;
      if (amount > free || (heldBy.get(network) ?? 0) >= factor * free) return false;
      add(network, amount);
      return true;
    },
    release: (network: string, amount = 1): void => add(network, -amount),
  };
}
