// Secrets of one data directory: made once, kept beside the data that they open, readable by their owner alone.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { type RunDirectory, writeWhole } from './run-directory.ts';

const names = [
  'postgresSuperuser',
  'identityMigrator',
  'catalogMigrator',
  'identityReadWrite',
  'identityOperator',
  'catalogReadOnly',
  'catalogFeed',
  'redis',
  'keyEncryption',
  'userHash',
  'partnerTokenEncryption',
] as const;

/** Each 32 random bytes, base64url. */
export type StackSecrets = Readonly<Record<(typeof names)[number], string>>;

/** `randomSecret` is asked only for those that the directory does not hold yet. */
export function loadSecrets(
  run: RunDirectory,
  randomSecret: () => string = () => randomBytes(32).toString('base64url'),
): StackSecrets {
  mkdirSync(run.data, { recursive: true, mode: 0o711 });
  const known = existsSync(run.secretsFile)
    ? (JSON.parse(readFileSync(run.secretsFile, 'utf8')) as Partial<StackSecrets>)
    : {};
  const secrets = Object.fromEntries(
    names.map((name) => [name, known[name] ?? randomSecret()]),
  ) as StackSecrets;
  if (names.some((name) => known[name] === undefined)) writeWhole(run.secretsFile, secrets);
  return secrets;
}
