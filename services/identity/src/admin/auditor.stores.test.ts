// What an auditor reads of clients: everything but their contacts.
import type { PeerCertificate } from 'node:tls';
import { createAuditHandlers } from '@course-exchange/runtime/audit/rpc';
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { expect, test } from 'vitest';
import { newRegistration, useOperatorContext } from '../../../../test/stores/operator-context.ts';
import { createClientHandlers } from '../clients/rpc.ts';

const { identity, context, register } = await useOperatorContext();
const clients = createClientHandlers(context);
const asked = <Request>(fields: object) => fields as Request;
const callBy = (subject?: object) =>
  ({ certificate: () => subject && ({ subject } as PeerCertificate) }) as unknown as IncomingCall;
const auditor = callBy({ CN: 'carol', OU: 'auditor' });

test('an auditor reads a client and the audit log without a contact, everybody else the contacts too', async () => {
  const registration = newRegistration();
  const { clientId, technicalContact, credentialContacts } = registration;
  await register(registration);
  const read = async (call: IncomingCall) => {
    const { client } = await clients.getClient(asked({ clientId }), call);
    const listed = (await clients.listClients(asked({ active: false }), call)).clients ?? [];
    return { client, found: listed.find((one) => one.registration?.clientId === clientId) };
  };
  const shown = await read(auditor);
  const { entries } = await createAuditHandlers(identity.operator).listAuditEntries(
    asked({ filter: { clientId }, afterSequence: 0n }),
    auditor,
  );
  expect(entries?.length).toBeGreaterThan(0);
  const text = JSON.stringify([shown, entries], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  for (const { name, email, phone } of [technicalContact, ...credentialContacts])
    for (const part of [name, email, phone]) if (part) expect(text).not.toContain(part);
  const { name, userJourney } = registration;
  for (const client of Object.values(shown))
    expect(client).toMatchObject({
      contactsWithheld: true,
      registrationGaps: [],
      registration: { name, userJourney },
    });
  for (const call of [callBy(), callBy({ CN: 'ann' }), callBy({ CN: 'ann', OU: 'operator' })])
    for (const client of Object.values(await read(call))) {
      expect(client).toMatchObject({ registration: { technicalContact, credentialContacts } });
      expect(client).not.toHaveProperty('contactsWithheld');
    }
});
