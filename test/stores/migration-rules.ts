// What a migration must not hold, so that the code of the version before works on the schema that it leaves
// (docs/decisions/0019): judged by its text.

interface Rule {
  readonly says: string;
  readonly forbids: RegExp;
}

const rules: readonly Rule[] = [
  {
    says: 'drops what the version before may use',
    forbids:
      /\bdrop\s+(table|column|schema|view|type|function|trigger|sequence|policy)\b|\btruncate\b(?!\s+on\b)/,
  },
  { says: 'renames', forbids: /\brename\b/ },
  { says: 'changes the type of a column', forbids: /\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/ },
  { says: 'makes a column NOT NULL', forbids: /\bset\s+not\s+null\b/ },
  { says: 'takes away a default', forbids: /\bdrop\s+default\b/ },
  {
    says: 'adds a NOT NULL column without a default to a table that is there',
    forbids:
      /\badd\s+(column\s+)?(?!constraint\b)\w+(?=(?:[^,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*\bnot\s+null\b)(?!(?:[^,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*\b(default|generated)\b)/,
  },
  {
    says: 'binds rows of a table that is there',
    forbids: /\badd\s+(constraint|check|unique|foreign|primary|exclude)\b/,
  },
  { says: 'takes away a right', forbids: /\brevoke\b/ },
];

/** A sentence for each breach of the text of one migration. */
export function breachesOf(sql: string): readonly string[] {
  const text = withoutBodies(sql);
  const made = [...text.matchAll(/\bcreate\s+(?:table|function)\s+(\w+)/g)].map(([, name]) => name ?? '');
  return statementsOf(text).flatMap((statement) => {
    // What it makes itself, nobody uses yet.
    const ofItsOwn = made.some((name) => new RegExp(`^(revoke|alter)\\b.*\\b${name}\\b`).test(statement));
    const found = ofItsOwn ? [] : rules.filter(({ forbids }) => forbids.test(statement));
    const unique = /^create\s+unique\s+index\s+\w+\s+on\s+(\w+)/.exec(statement)?.[1];
    const binds = unique !== undefined && !made.includes(unique);
    return [
      ...found.map(({ says }) => `${says}: ${statement}`),
      ...(binds ? [`binds rows of a table that is there: ${statement}`] : []),
    ];
  });
}

/** Without comments, quoted text and bodies of functions. */
function withoutBodies(sql: string): string {
  return sql
    .replace(/--.*$/gm, '')
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replace(/'(?:[^']|'')*'/g, "''")
    .toLowerCase();
}

function statementsOf(text: string): readonly string[] {
  return text
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}
