import { expect, test } from 'vitest';
import { mixesAlphabets, skeletonOf } from './lookalike.ts';

const name = 'Paddock Planner';

test.each([
  ...['paddock planner', 'Paddock-Planner', 'PaddockPlanner', 'Paddock  Planner', 'Pad\u200bdock Planner'],
  ...['Раddосk Рlаnnеr', 'Ραddοck Plαnner', 'Ｐａｄｄｏｃｋ Planner', '𝐏𝐚𝐝𝐝𝐨𝐜𝐤 Planner', 'Pàddöck Plánner'],
  ...['PaddockᅠPlanner', 'Paddock P1anner', 'Padd0ck Planner', 'Paddock PIanner', 'Paddock Planner.'],
])('%j looks like another name', (other) => {
  expect(skeletonOf(other)).toBe(skeletonOf(name));
});

test.each(['Paddock Planer', 'Paddock Planners', 'Course Planner', 'Паддок', 'पैडक'])(
  '%j does not',
  (other) => {
    expect(skeletonOf(other)).not.toBe(skeletonOf(name));
  },
);

test('names of other scripts keep what tells them apart', () => {
  const names = [
    'Конный журнал',
    'Конный турнир',
    'Ημερολόγιο',
    'हिन्दी',
    'हिन्द',
    '馬術',
    '馬術部',
    '***',
    '+++',
  ];
  expect(new Set(names.map(skeletonOf)).size).toBe(names.length);
  expect(skeletonOf('ТОР')).toBe(skeletonOf('TOP'));
});

test.each(['Pаddock', 'Αcme', 'Acmе diary', 'ᎪBC', 'Courseս'])('%j mixes alphabets in a word', (mixed) => {
  expect(mixesAlphabets(mixed)).toBe(true);
});

test.each(['Acme', 'Acme Дневник', 'Größe', 'Acme2', 'JRA競馬', 'Kカード', 'Łódź', 'Ημερολόγιο Acme'])(
  '%j does not',
  (plain) => {
    expect(mixesAlphabets(plain)).toBe(false);
  },
);
