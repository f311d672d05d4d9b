// A system with the rehearsals' proxy before its gateway, at the issuer's address.
import { type RehearsalProxy, startRehearsalProxy } from '@course-exchange/testcontainers/rehearsal/proxy';
import { type System, startSystem } from '../support/system.ts';

export interface RehearsedSystem {
  readonly proxy: RehearsalProxy;
  readonly system: System;
  stop(): Promise<void>;
}

export async function startRehearsedSystem(): Promise<RehearsedSystem> {
  let gateway = '';
  const proxy = await startRehearsalProxy(() => gateway);
  const linkTo = (name: string, port: number) => {
    if (name !== 'gateway') return port;
    gateway = `http://127.0.0.1:${port}`;
    return proxy.port;
  };
  try {
    const system = await startSystem({}, { linkTo });
    const stop = async () => {
      await system.stop();
      await proxy.stop();
    };
    return { proxy, system, stop };
  } catch (error) {
    await proxy.stop();
    throw error;
  }
}
