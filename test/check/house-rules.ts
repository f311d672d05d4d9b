// Rules of the house that no tool at hand knows: what a source file is called, begins with and must not hold.
import { filesOfProject, read } from '../docs/documents.ts';
import { fail, type Step } from './step.ts';

interface HouseRule {
  readonly says: string;
  readonly applies: RegExp;
  readonly except?: RegExp;
  readonly forbids: RegExp;
}

/** Files that may read the clock and randomness: they hand them on as parameters; and tests with what serves them. */
const tops = /^services\/runtime\/|\/src\/(main|migrate)\.ts$|\.test\.ts$|\/testing\//;
/** These files must write down what they forbid. */
const itself = /^test\/check\//;

const houseRules: readonly HouseRule[] = [
  {
    says: 'what is unfinished belongs into an issue',
    applies: /\.(ts|sql|proto|md|yaml|yml|css)$/,
    except: itself,
    forbids: /\b(TODO|FIXME|XXX)\b/,
  },
  {
    says: 'the type checker is obeyed, not silenced',
    applies: /\.ts$/,
    except: /^test\/check\/|\.test\.ts$/,
    forbids: /@ts-(ignore|nocheck|expect-error)/,
  },
  {
    says: 'clock and randomness come in as parameters; main and runtime read them',
    applies: /^services\/.*\.ts$/,
    except: tops,
    forbids:
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\(|import \{[^}]*\brandom(Bytes|UUID|Int)\b[^}]*\} from 'node:crypto'/,
  },
  {
    says: 'the environment is read by main and runtime',
    applies: /^services\/.*\.ts$/,
    except: tops,
    forbids: /\bprocess\.env\b/,
  },
  {
    says: 'a file begins with a comment that says what it owns',
    applies: /\.(ts|sql|proto)$/,
    except: /\.test\.ts$/,
    forbids: /^(?!\/\/|\/\*|--|#!)/,
  },
  {
    says: 'the name of a test has at most 100 characters, its clauses aside',
    applies: /\.test\.ts$/,
    except: itself,
    forbids: /(?:\btest|\))\(\s*(['"`])(?:(?!\1|\s[[(][RS]\d).){101}/,
  },
];
const longestFile = 250;
/** A migration is never edited (decision 0019). */
const longerFiles = ['services/design-catalog/migrations/0001-catalog.sql'];
const vagueName = /(^|\/)(utils?|helpers?|common|lib|shared|misc)(\/|\.ts$)|(Manager|Service|Impl|Base)\.ts$/;

/** What is wrong with the file at `path` (relative to the root) that holds `text`; a line each. */
export function breaches(path: string, text: string): string[] {
  const broken = houseRules.flatMap(({ says, applies, except, forbids }) => {
    const match = applies.test(path) && !except?.test(path) ? forbids.exec(text) : null;
    return match ? [`${path}:${text.slice(0, match.index).split('\n').length}: ${says}`] : [];
  });
  if (vagueName.test(path)) broken.unshift(`${path}: folders and files are nouns of the product`);
  const lines = text.split('\n').length - 1;
  if (/\.(ts|sql)$/.test(path) && !longerFiles.includes(path) && lines > longestFile)
    broken.push(`${path}: ${lines} lines; a file has at most ${longestFile}`);
  return broken;
}

/** Of `texts`, by path: one file of each folder of a service begins with what lives in the folder. */
export function folderBreaches(texts: ReadonlyMap<string, string>): string[] {
  const folderOf = (path: string) =>
    /^services\/(?!demo-partner)[^/]+\/src\/.+(?=\/[^/]+\.ts$)/.exec(path)?.[0] ?? '';
  return [...Map.groupBy(texts.keys(), folderOf)].flatMap(([folder, paths]) => {
    const word = `// ${folder.slice(folder.lastIndexOf('/') + 1)}/ `;
    const count = paths.filter((path) => texts.get(path)?.startsWith(word)).length;
    return folder === '' || count === 1
      ? []
      : [`${folder}: ${count} files begin with "${word}", what lives there`];
  });
}

export const findBreaches: Step = async () => {
  const paths = filesOfProject().filter((path) => /\.(ts|sql|proto|md|yaml|yml|css)$/.test(path));
  const texts = new Map(paths.map((path) => [path, read(path)]));
  return fail([...texts].flatMap(([path, text]) => breaches(path, text)).concat(folderBreaches(texts)));
};
