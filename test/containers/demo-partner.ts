// The demo partner as a container, at a port of this machine.
import { randomBytes } from 'node:crypto';
import { demoPartners } from '@course-exchange/local-stack/demo-partners';
import type { GenericContainer } from 'testcontainers';
import { service } from './product-container.ts';

export function demoPartnerAt(port: number, issuer: string): GenericContainer {
  const url = `http://127.0.0.1:${port}`;
  const partner = demoPartners(url)[0];
  return service('demo-partner', {
    ISSUER: issuer,
    PUBLIC_URL: url,
    HTTP_HOST: '0.0.0.0',
    HTTP_PORT: '9000',
    CLIENT_ID: partner?.clientId ?? '',
    CLIENT_SECRET: partner?.clientSecret ?? '',
    TOKEN_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    DATABASE_FILE: '/data/demo-partner.sqlite',
  })
    .withTmpFs({ '/data': 'uid=65532,gid=65532,mode=0700' })
    .withExposedPorts({ container: 9000, host: port });
}
