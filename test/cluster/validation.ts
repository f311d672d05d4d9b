// The API server's own opinion of what the chart renders, for each of its value sets.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chart, type Environment, release } from './environment.ts';

const sets = readdirSync(join(chart, 'ci')).filter((name) => name.endsWith('.yaml'));

export function validation(environment: () => Environment): void {
  describe('the API server accepts', () => {
    test.each(sets)('what %s renders', async (name) => {
      const { kube } = environment();
      const words = ['template', release, chart, '--values', join(chart, 'ci', name), '--no-hooks'];
      const rendered = await kube.helm(...words);
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
