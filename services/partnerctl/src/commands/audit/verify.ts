// `audit verify`: whether the log is whole.
import { VerifyAuditResponseSchema } from '@course-exchange/proto/operator/v1/audit';
import { command } from '../../frame/command.ts';
import { text } from '../../frame/options.ts';
import { usageProblem } from '../../frame/problem.ts';
import { plain } from '../../output/plain.ts';
import { fields } from '../../output/tables.ts';
import { auditOf, logOption } from './log.ts';

export const auditVerify = command({
  name: 'verify',
  about: 'Compute the chain of hashes anew; exit code 1 when it is broken',
  details:
    'Keep the head that it prints outside of the database and give it to the next run: that finds a log that was cut off or written anew.',
  operands: {},
  options: { head: text('<head>', 'The head of an earlier run: 1234:9f86d081…'), log: logOption },
  examples: [
    { does: 'Is the log whole?', line: 'partnerctl audit verify' },
    { does: 'Is that of imported designs?', line: 'partnerctl audit verify --log designs' },
    {
      does: 'And does it still hold what it held last week?',
      line: 'partnerctl audit verify --head "$(cat last-head)"',
    },
  ],
  run: async (call, _, { head, log }) => {
    const expectedHead = head === undefined ? undefined : headOf(head);
    const result = await auditOf(call, log).verifyAudit(expectedHead ? { expectedHead } : {}, {
      timeoutMs: 600_000,
    });
    const { intact, entries, firstBreak } = result;
    const broken = firstBreak ? `entry ${firstBreak.sequence}: ${firstBreak.reason}` : undefined;
    const { paint } = call.terminal;
    return {
      json: plain(VerifyAuditResponseSchema, result),
      exit: intact ? 'done' : 'refused',
      text: fields(
        [
          ['Chain', intact ? 'whole' : 'BROKEN'],
          ['First break', broken],
          ['Entries', String(entries)],
          ['Head', `${result.head?.sequence ?? 0}:${result.head?.hash ?? ''}`],
        ],
        paint,
      ),
    };
  },
});

function headOf(words: string): { sequence: bigint; hash: string } {
  const [, sequence, hash] = /^(\d{1,18}):([0-9a-f]{64})$/.exec(words.trim()) ?? [];
  if (sequence && hash) return { sequence: BigInt(sequence), hash };
  throw usageProblem(`--head ${words} is no head.`, 'Give it as `audit verify` printed it.');
}
