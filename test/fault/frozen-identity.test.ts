// A process that hangs keeps its connections and answers nothing. With one of two identity processes frozen, failures end
// within 5 s, over streams and over unary calls (decision 0029). Calls that are refused do not count against a process.
import { expect, onTestFinished, test } from 'vitest';
import { openCaller, unknownToken } from '../support/caller.ts';
import { ownStopwatch } from '../support/own-time.ts';
import { type PartName, startSystem } from '../support/system.ts';

/** So many in a row are not luck: every second call would meet the frozen process. */
const enoughJudged = 40;
/** Milliseconds from the freeze to the last call that fails. Until its connection is given up it were minutes. */
const longest = 5_000;

test.each(['streams', 'unary'])('a frozen identity process is left within 5 s: %s', async (calls) => {
  const system = await startSystem({ RPC_CALLS: calls }, { identities: 2 });
  onTestFinished(system.stop);
  const { refresh } = await openCaller(system.stack);

  /** Asks until enough in a row were judged. Gives when the last that was not was sent, in milliseconds from now that this process had. */
  const lastFailure = async (): Promise<number> => {
    const elapsed = ownStopwatch();
    let [last, judged] = [0, 0];
    const ask = async () => {
      while (judged < enoughJudged) {
        const sent = elapsed();
        const { status } = await refresh(unknownToken);
        if (status === 400) judged += 1;
        else [last, judged] = [sent, 0];
        if (sent > 60_000) throw new Error('calls fail for a minute');
      }
    };
    await Promise.all(Array.from({ length: 4 }, ask));
    return last;
  };

  await lastFailure();
  for (const [frozen, other] of [
    ['identity', 'identity-2'],
    ['identity-2', 'identity'],
  ] satisfies [PartName, PartName][]) {
    // It was frozen before, and answers again.
    system.resume(other);
    await lastFailure();
    system.pause(frozen);
    const failedFor = await lastFailure();
    console.log(`figure: ${calls}: calls failed for ${Math.round(failedFor)} ms after ${frozen} was frozen`);
    expect(failedFor).toBeLessThan(longest);
  }
});
