// The noun `key`: signing keys through their states, guarded by time (R17).
import type { Noun } from '../../frame/command.ts';
import { keyRotate } from './rotate.ts';
import { keyActivate, keyList, keyReencrypt, keyRetire, keyStage } from './steps.ts';

export const keyNoun: Noun = {
  name: 'key',
  about: 'Signing keys: staged, active, superseded, retired',
  examples: [
    { does: 'Where the keys stand', line: 'partnerctl key list' },
    { does: 'A whole rotation', line: 'partnerctl key rotate' },
  ],
  commands: [keyList, keyRotate, keyStage, keyActivate, keyRetire, keyReencrypt],
};
