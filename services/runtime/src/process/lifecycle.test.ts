import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

/** A real process that stops in two steps and those of `more`; `body` runs once it listens to signals. */
function startProcess(
  body: string,
  { stopWithParent = false, more = '', stopTimeoutMs = 30_000, delayMs = 0 } = {},
): ChildProcessWithoutNullStreams {
  const program = `
    import { stopOnSignal } from '${import.meta.dirname}/lifecycle.ts';
    import { createLogger } from '${import.meta.dirname}/logger.ts';
    stopOnSignal({
      logger: createLogger('child', 'info'),
      config: { STOP_WITH_PARENT: ${stopWithParent}, SHUTDOWN_DELAY_MS: ${delayMs} },
      health: { stopping: () => {}, close: async () => {} },
      telemetry: { flush: async () => {} },
      stopTimeoutMs: ${stopTimeoutMs},
      steps: {
        first: async () => { await new Promise((done) => setTimeout(done, 50)); console.log('first'); },
        second: () => { console.log('second'); },
        ${more}
      },
    });
    const alive = setInterval(() => {}, 1_000);
    ${body}
    console.log('running');`;
  return spawn(process.execPath, ['--input-type=module-typescript', '--eval', program]);
}

async function end(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; output: string }> {
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { code, output };
}

/** Sends `signals` to a process that listens to them; without one its parent dies. */
async function stopped(options: Parameters<typeof startProcess>[1], ...signals: readonly NodeJS.Signals[]) {
  const child = startProcess('', options);
  await once(child.stdout, 'data');
  for (const signal of signals) child.kill(signal);
  if (signals.length === 0) child.stdin.end();
  return end(child);
}

test('SIGTERM runs the steps of the stop in order, once whatever signals follow, and ends with 0', async () => {
  const { code, output } = await stopped({}, 'SIGTERM', 'SIGINT');
  expect(code).toBe(0);
  expect(output.match(/^(first|second)$/gm)).toEqual(['first', 'second']);
});

test('the death of the parent closes standard input and stops the process', async () => {
  expect(await stopped({ stopWithParent: true })).toMatchObject({ code: 0 });
});

test('a step that fails does not keep the next from running, and the process ends with 1', async () => {
  const more = "third: () => { throw new Error('canary'); }, fourth: () => { console.log('fourth'); },";
  const { code, output } = await stopped({ more }, 'SIGTERM');
  expect(code).toBe(1);
  expect(output).toContain('fourth');
  expect(output).not.toContain('canary');
});

test('a step that hangs ends the process with 1 when the time is over', async () => {
  const hanging = { more: 'hanging: () => new Promise(() => {}),', stopTimeoutMs: 1_000 };
  expect(await stopped(hanging, 'SIGTERM')).toMatchObject({ code: 1 });
});

test('the time to stop begins after the delay', async () => {
  expect(await stopped({ delayMs: 1_500, stopTimeoutMs: 1_000 }, 'SIGTERM')).toMatchObject({ code: 0 });
});

test('an error outside a request is logged without its text and stops the process with 1', async () => {
  const child = startProcess(`setTimeout(() => { throw new Error('canary'); }, 20);`);
  const { code, output } = await end(child);
  expect(code).toBe(1);
  expect(output).toContain('uncaught error');
  expect(output).toContain('second');
  expect(output).not.toContain('canary');
});
