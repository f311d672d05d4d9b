// What stands for a person in logs (R27): the same person gives the same text, and nobody without the key can
// tell which person it is.
import { createHmac } from 'node:crypto';
import { type LogText, logText } from './logger.ts';
import type { Secret } from './secret.ts';

export function pseudonym(key: Secret<Buffer>, person: string): LogText {
  return logText(createHmac('sha256', key.reveal()).update(person).digest('base64url').slice(0, 22));
}
