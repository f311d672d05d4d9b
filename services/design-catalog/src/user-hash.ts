// What stands for a user in logs (R27): the same user gives the same text, and nobody without the key can tell
// which user it is.
import { createHmac } from 'node:crypto';
import { type LogText, logText } from '@course-exchange/runtime/logger';
import type { Secret } from '@course-exchange/runtime/secret';
import type { Owner } from './domain/ids.ts';

export function userHash(key: Secret<Buffer>, owner: Owner): LogText {
  return logText(createHmac('sha256', key.reveal()).update(owner).digest('base64url').slice(0, 22));
}
