// The rule on targets where services speak TLS. What TLS does on the wire: test/rpc/mutual-tls.test.ts.
import { expect, test } from 'vitest';
import { namelessTarget } from './tls.ts';

test('a target by address has no name to check: a mistake of the configuration where there is a folder', () => {
  const mistakes = (target: string, directory?: string) =>
    namelessTarget('IDENTITY_TARGET', target, directory);
  for (const target of ['10.0.0.7:7001', 'ipv4:10.0.0.7:7001', 'dns:///[::1]:7001', 'ipv6:[::1]:7001'])
    expect(mistakes(target, '/tls')).toEqual([
      'IDENTITY_TARGET is not valid: expected the name of a host where RPC_TLS_DIRECTORY is set',
    ]);
  expect(mistakes('10.0.0.7:7001')).toEqual([]);
  for (const target of ['dns:///identity:7001', 'identity:7001', 'dns:///identity.test.svc'])
    expect(mistakes(target, '/tls')).toEqual([]);
});
