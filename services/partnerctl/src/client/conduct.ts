// `client conduct`: how a client keeps the duties of specification §5, as identity counted it.
import {
  ConductService,
  type Duty,
  Verdict,
  VerdictSchema,
} from '@course-exchange/proto/operator/v1/conduct';
import { newCommand, withAction } from '../cli/command.ts';
import { given, timeOption } from '../cli/options.ts';
import { enumName } from '../output/result.ts';
import { type Columns, dateOf, table, type Value } from '../output/table.ts';

export function conductCommand() {
  const command = newCommand('conduct', {
    about: 'Show how a client keeps its duties (specification §5)',
    details:
      'Counts of the last 90 days, at most 20 seconds old, from requests in which the client authenticated. An authorization request counts when its code is redeemed; a user can remove state or nonce from it. Exit code 1 if a duty is broken. A rehearsal shows what identity cannot see.',
    examples: {
      'Before production': 'partnerctl client conduct acme',
      'After a correction': 'partnerctl client conduct acme --since 24h',
      'Broken duties, for a script':
        'partnerctl client conduct acme --json | jq \'.duties[] | select(.verdict == "broken")\'',
    },
  })
    .argument('<client-id>', 'The client')
    .addOption(timeOption('--since <time>', 'From the beginning of that day (UTC): 7d, or 2026-11-20'));
  return withAction(command, async ({ services, now }, clientId, { since }) => {
    const asked = { clientId, ...given({ since: since?.(now()) }) };
    const {
      duties,
      authorizationRequests: all,
      requestsNeverRedeemed: never,
    } = await services.identity(ConductService).getConduct(asked);
    const requests = `Authorization requests never redeemed: ${never} of ${all}. Users give up too: this has no verdict.`;
    const broken = duties.filter(({ verdict }) => verdict === Verdict.BROKEN);
    return {
      json: { clientId, duties: duties.map(dutyJson) },
      text: `${table(duties, columns, '')}\n${requests}\n${adviceText(broken)}`,
      exit: broken.length > 0 ? 'refused' : 'done',
    };
  });
}

const verdicts: Readonly<Record<Verdict, Value>> = {
  [Verdict.UNSPECIFIED]: { text: '–', color: 'dim' },
  [Verdict.KEPT]: { text: 'kept', color: 'green' },
  [Verdict.BROKEN]: { text: 'broken', color: 'red' },
  [Verdict.NOT_SEEN]: { text: 'not seen yet', color: 'dim' },
  [Verdict.NOT_VISIBLE]: { text: 'cannot be seen from here', color: 'dim' },
};

const columns: Columns<Duty> = {
  DUTY: ({ about }) => about,
  SECTION: ({ section }) => section,
  VERDICT: ({ verdict }) => verdicts[verdict],
  TIMES: ({ count }) => (count > 0n ? String(count) : ''),
  LAST: ({ lastAt }) => lastAt ?? '',
  REQUEST: ({ requestId }) => requestId,
};

/** Absent fields are left out. */
function dutyJson({ duty, section, verdict, count, lastAt, requestId }: Duty) {
  const seen = verdict !== Verdict.NOT_VISIBLE;
  return {
    ...{ duty, section, verdict: enumName(VerdictSchema, verdict) },
    ...given({ count: seen ? count : undefined, lastAt: lastAt && dateOf(lastAt) }),
    ...given({ requestId: requestId || undefined }),
  };
}

/** These breaches were answered, not refused. */
const inLogAlone = ['pkce', 's256', 'state', 'nonce'];

function adviceText(broken: readonly Duty[]): string {
  const answered = broken.some(({ duty }) => inLogAlone.includes(duty));
  const refused = broken.some(({ duty }) => !inLogAlone.includes(duty));
  const explained = '`partnerctl explain REQUEST` says why a request was refused, for seven days.\n';
  const logged = `Requests of ${inLogAlone.join(', ')} were answered, not refused: they stand in the log alone.\n`;
  return `${refused ? explained : ''}${answered ? logged : ''}`;
}
