import { expect, test } from 'vitest';
import { holdsPrograms } from './scratch.ts';

test.each([
  ['proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n', true],
  ['shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0\n', false],
  ['/dev/sda /dev/shm ext4 rw 0 0\n', false],
  ['tmpfs /dev/shm/other tmpfs rw 0 0\n', false],
])('%j: %s', (mounts, expected) => {
  expect(holdsPrograms(mounts)).toBe(expected);
});
