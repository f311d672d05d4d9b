// Where things that outlive a checkout are kept: fetched programs, never data.
import { homedir } from 'node:os';
import { join } from 'node:path';

export function cacheDirectory(): string {
  const base = process.env.XDG_CACHE_HOME;
  return join(base?.startsWith('/') ? base : join(homedir(), '.cache'), 'course-exchange');
}
