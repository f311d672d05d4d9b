// A system with the rehearsals' proxy before its gateway, at the issuer's address.
import { startRehearsalProxy } from '@course-exchange/testcontainers/rehearsal/proxy';
import { startSystem } from '../support/system.ts';

export type RehearsedSystem = Awaited<ReturnType<typeof startRehearsedSystem>>;

export async function startRehearsedSystem() {
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
