// What Helm says after an installation.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chart, helm, objectsOf, type Values } from './render.ts';
import { filesOf } from './value-sets.ts';

const withHelm = test.skipIf(helm === '').concurrent;

/** The chart with its notes as an object: without a cluster, Helm shows them in no other way. */
const withNotes = mkdtempSync(join(tmpdir(), 'chart-'));
cpSync(chart, withNotes, { recursive: true });
const text = readFileSync(join(chart, 'templates/NOTES.txt'), 'utf8');
writeFileSync(join(withNotes, 'templates/_notes.tpl'), `{{ define "notes" }}${text}{{ end }}`);
writeFileSync(
  join(withNotes, 'templates/notes.yaml'),
  'kind: Notes\nmetadata: { name: notes }\ntext: |\n  {{- include "notes" . | nindent 2 }}\n',
);
afterAll(() => rmSync(withNotes, { recursive: true }));

async function notes(set: string, values: Values = {}): Promise<string> {
  const release = 'course-exchange';
  const objects = await objectsOf({ files: filesOf(set), values, release, of: withNotes });
  return objects.find(({ kind }) => kind === 'Notes')?.text;
}

withHelm('partnerctl is named where there is an operator port', async () => {
  expect(await notes('test-minimal-values')).toContain('-c identity -- partnerctl status');
  const production = await notes('production-hosts');
  expect(production).toContain('deploy/course-exchange-identity 7201');
  expect(production).toContain('PARTNERCTL_IDENTITY=https://localhost:7201 partnerctl status');
  expect(await notes('production-hosts', { identity: { operator: { enabled: false } } })).not.toContain(
    'partnerctl',
  );
});

withHelm('certificates that cert-manager does not make are named', async () => {
  const text = await notes('production-hosts');
  for (const component of ['gateway', 'identity', 'design-catalog'])
    expect(text).toContain(
      `course-exchange-${component}.exchange.svc.cluster.local in Secret course-exchange-${component}-tls`,
    );
  expect(await notes('test-everything-values')).not.toContain('certificates must carry');
});

withHelm('a gateway that nobody reaches is told', async () => {
  const unreached = /Nobody reaches the gateway/;
  const closed = { ingress: { enabled: false } };
  const peer = { podSelector: { matchLabels: { app: 'load' } } };
  expect(await notes('test-minimal-values')).not.toMatch(unreached);
  expect(
    await notes('test-minimal-values', {
      ...closed,
      networkPolicy: { ingressController: { namespaceSelector: null } },
    }),
  ).toMatch(unreached);
  expect(
    await notes('test-minimal-values', {
      ...closed,
      networkPolicy: { ingressController: { namespaceSelector: null }, gatewayFrom: [peer] },
    }),
  ).not.toMatch(unreached);
});
