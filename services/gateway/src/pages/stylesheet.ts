// The stylesheet as one text, under an address that names its content, so that it can be cached for good.
import { createHash } from 'node:crypto';
import { controls } from './style/controls.ts';
import { palette } from './style/palette.ts';
import { sheet } from './style/sheet.ts';

export const stylesheet = [palette, sheet, controls].join('\n');

const contentHash = createHash('sha256').update(stylesheet).digest('base64url').slice(0, 16);

export const stylesheetName = `pages-${contentHash}.css`;
export const stylesheetPath = `/assets/${stylesheetName}`;
