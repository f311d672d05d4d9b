// `explain` and `refusals`: why identity refused a request (R34.1), for the answer to a partner's mail.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  EndpointSchema,
  type ListRefusalsRequestSchema,
  type Refusal,
  RefusalService,
} from '@course-exchange/proto/operator/v1/refusal';
import { type CommandContext, newCommand, newGroup, withAction } from './cli/command.ts';
import { countOption, given, timeOption } from './cli/options.ts';
import { pagesOf } from './connection/services.ts';
import { CliError, usageError } from './output/errors.ts';
import { enumName } from './output/result.ts';
import { type Columns, fields, table } from './output/table.ts';
import { paint, sanitize } from './output/terminal.ts';

const pageSize = 1000;
const mostApartMs = 60_000;
const mostListed = 20;
const defaultLimit = 100;

export function explainCommand() {
  const command = newCommand('explain', {
    about: 'Explain why a request was refused',
    details:
      'Prints a text for the partner, and what to look at next. Callers choose request ids: compare the client of the record with the sender of the mail. Exit code 2 if several records have the id: choose with --client and --at.',
    examples: {
      'Why a request was refused': 'partnerctl explain 1f17c0de-5a4b-4c7e-9d7a-0f1e2d3c4b5a',
      'One of several': 'partnerctl explain checkout-1 --client acme --at 2026-11-20T13:20:00.123Z',
    },
  })
    .argument('<request-id>', 'X-Request-Id of the answer: 8–64 of A–Z a–z 0–9 . _ -')
    .option('--client <client-id>', 'Of this client, authenticated or only named')
    .addOption(timeOption('--at <time>', 'The nearest to this time, a minute apart at most'));
  return withAction(command, async (context, requestId, { client: clientId = '', at }) => {
    if (!/^[A-Za-z0-9._-]{8,64}$/.test(requestId))
      throw usageError(`'${requestId}' is not a request id.`, 'It has 8–64 of A–Z a–z 0–9 . _ -.');
    const time = at && timestampMs(at(context.now()));
    const period = time !== undefined && {
      since: timestampFromMs(time - mostApartMs),
      until: timestampFromMs(time + mostApartMs + 1),
    };
    const { refusals } = await refusalPage(context, { requestId, clientId, ...period, pageSize });
    const refusal = theOne(requestId, time === undefined ? refusals : nearest(refusals, time));
    return { json: refusalJson(refusal), text: explanationText(refusal) };
  });
}

export function refusalsCommand() {
  const command = newCommand('list', {
    about: `List refusals, newest first: ${defaultLimit}, or as many as --limit says`,
    examples: {
      'What a client was refused lately': 'partnerctl refusals list --client acme --since 1h',
      'Who gets an error': 'partnerctl refusals list --code invalid_grant --since 2026-11-20T13:20:00Z',
    },
  })
    .option('--client <client-id>', 'Of this client, authenticated or only named')
    .option('--code <code>', 'With this error code, such as invalid_grant')
    .addOption(timeOption('--since <time>', 'Since then: 1h, 7d or 2026-11-20T13:20:00Z'))
    .addOption(countOption('--limit <number>', `How many; ${defaultLimit} by default`, 100_000));
  const list = withAction(command, async (context, options) => {
    const { client: clientId = '', code = '', limit = defaultLimit } = options;
    const filter = { clientId, code, ...given({ since: options.since?.(context.now()) }) };
    const found = await newest(context, filter, limit + 1);
    const [refusals, more] = [found.slice(0, limit), found.length > limit];
    if (more && !context.json) context.terminal.err.write('There are more: use --limit.\n');
    return { json: { refusals: refusals.map(refusalJson), more }, text: table(refusals, columns, 'None.') };
  });
  return newGroup('refusals', 'Requests of the last seven days that identity refused', [list]);
}

type Request = MessageInitShape<typeof ListRefusalsRequestSchema>;

function refusalPage({ services }: CommandContext, request: Request) {
  return services.identity(RefusalService).listRefusals(request);
}

async function newest(context: CommandContext, filter: Request, limit: number): Promise<readonly Refusal[]> {
  const found: Refusal[] = [];
  const read = (pageToken: string) =>
    refusalPage(context, { ...filter, pageSize: Math.min(pageSize, limit - found.length), pageToken });
  for await (const { refusals } of pagesOf(read)) {
    found.push(...refusals);
    if (found.length >= limit) break;
  }
  return found;
}

function nearest(refusals: readonly Refusal[], time: number): readonly Refusal[] {
  const apart = ({ at }: Refusal) => Math.abs((at ? timestampMs(at) : 0) - time);
  const least = Math.min(...refusals.map(apart));
  return refusals.filter((refusal) => apart(refusal) === least);
}

function theOne(requestId: string, refusals: readonly Refusal[]): Refusal {
  const [first] = refusals;
  if (first === undefined)
    throw new CliError('missing', `No refusal of the request ${requestId} is recorded.`, {
      advice:
        'Look for the id in the log: answers of the resource API and refusals of the gateway are there alone. Records are kept for seven days, by each environment for itself, and some may be missing.',
    });
  if (refusals.length === 1) return first;
  const lines = refusals.map((one) => `${isoTime(one.at)}  ${clientText(one)}  ${endpointName(one)}`);
  const left = lines.length - mostListed;
  throw new CliError(
    'usage',
    `The command line names more than one: ${lines.length} refusals have this id.`,
    {
      mistakes: [...lines.slice(0, mostListed), ...(left > 0 ? [`and ${left} more`] : [])],
      advice: 'Choose one with --client, --at or both.',
    },
  );
}

const columns: Columns<Refusal> = {
  TIME: ({ at }) => at,
  CLIENT: clientText,
  ENDPOINT: endpointName,
  CODE: ({ code }) => code,
  REASON: ({ reason }) => reason,
  'REQUEST ID': ({ requestId }) => requestId,
};

function endpointName({ endpoint }: Refusal): string {
  return enumName(EndpointSchema, endpoint);
}

function clientText({ clientId, clientAuthenticated }: Refusal): string {
  if (clientId === '') return '–';
  return clientAuthenticated ? clientId : `${clientId} (claimed)`;
}

function isoTime(time: Timestamp | undefined): string | undefined {
  return time && timestampDate(time).toISOString();
}

/** What scripts rely on: fields that do not apply are left out. */
function refusalJson(refusal: Refusal) {
  const { requestId, at, clientId, code, reason, sentence, duty, earlier } = refusal;
  return given({
    requestId,
    at: isoTime(at),
    endpoint: endpointName(refusal),
    clientId: clientId || undefined,
    code,
    reason,
    sentence,
    duty: duty || undefined,
    earlier: earlier && given({ requestId: earlier.requestId || undefined, at: isoTime(earlier.at) }),
  });
}

function explanationText(refusal: Refusal): string {
  const { clientId, clientAuthenticated, earlier, sentence, partnerDoes } = refusal;
  const facts = fields({
    Request: refusal.requestId,
    Time: isoTime(refusal.at),
    Endpoint: endpointName(refusal),
    Client: clientText(refusal),
    Answer: refusal.code,
    Reason: refusal.reason,
    User: refusal.user || undefined,
    Grant: refusal.family || undefined,
    Earlier: earlier && `${isoTime(earlier.at)}, request ${earlier.requestId || 'not known'}`,
  });
  const next = fields({
    Duty: refusal.duty ? `specification ${refusal.duty}` : 'none broken for certain',
    'Look next': refusal.operatorLooks,
  });
  const warning = clientId
    ? "The client was only claimed: compare the record's client with the sender before you forward this.\n\n"
    : 'No client was named: compare time and endpoint with the mail before you forward this.\n\n';
  const compare = clientAuthenticated ? '' : paint('yellow', warning);
  return `${facts}\n${compare}For the partner${clientId && ` ${sanitize(clientId)}`}:\n${sanitize(`${sentence} ${partnerDoes}`)}\n\n${next}`;
}
