// The API server's own opinion of what the chart renders, for each of its value sets.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesOf, valueSets } from '../chart/value-sets.ts';
import { chart, makeNamespace } from './environment.ts';

export function validation(): void {
  describe('the API server accepts', () => {
    test.each(valueSets)('what the values %s render', async (name) => {
      const kube = await makeNamespace('empty', 'restricted');
      const values = filesOf(name).map((file) => `--values=${join(chart, file)}`);
      const rendered = await kube.helm('template', 'validated', chart, ...values);
      const known = rendered
        .split(/^---$/m)
        .filter((object) => !needsDefinition(object) && /^kind:/m.test(object));
      expect(known.length).toBeGreaterThan(3);
      const tried = ['apply', '--dry-run=server', '--server-side', '--force-conflicts', '--filename=-'];
      const { code, errors } = await kube.tryKubectl(tried, known.join('\n---\n'));
      expect({ code, errors: errors.replace(/^Warning: .*$/gm, '').trim() }).toEqual({ code: 0, errors: '' });
    });
  });
}

/** Kinds that a cluster knows only by a CustomResourceDefinition. */
function needsDefinition(object: string): boolean {
  return /^apiVersion: (cert-manager\.io|monitoring\.coreos\.com|gateway\.networking\.k8s\.io|external-secrets\.io)\//m.test(
    object,
  );
}
