// The words that demo designs are made of.

export const shows: readonly string[] = [
  'Falsterbo Horse Show',
  'Windsor Spring Meeting',
  'Aachen Summer Jumping',
  'Grand Prix de Deauville',
  'Sopot Riviera Cup',
  'Kilkenny Agricultural Show',
  'Lake Arena Ebreichsdorf',
  'Ostuni Olive Tour',
  'Vejer Sunshine Tour',
  'Tryon Fall Classic',
  'Spruce Meadows Masters',
  'Oslo Winter Indoor',
  'Calgary Harvest Tournament',
  'Hagen Dressage and Jumping Days',
  'Zürich Hallenstadion Cup',
  'Kraków Cavaliada',
];

export const classes: readonly string[] = [
  'Two-phase 1.20 m',
  'Speed class 1.30 m, table C',
  'Grand Prix 1.50 m with jump-off',
  'Six-year-old horses 1.25 m',
  'Youngster tour final',
  'Amateur 1.10 m against the clock',
  'Accumulator with joker 1.35 m',
  'Derby over natural obstacles',
  'Ponies 0.90 m',
  'Six bars',
  'Nations Cup, round A',
  'Nations Cup, round B',
  'Top score 1.40 m',
  'Knock-out relay',
];

export const venues: readonly string[] = [
  'main arena, grass',
  'main arena, sand',
  'indoor hall 60 × 30 m',
  'arena 2',
  'warm-up field converted',
  'stadium 90 × 70 m',
];

export const notes: readonly string[] = [
  '13 obstacles, 15 efforts',
  '11 obstacles, 12 efforts, time allowed 68 s',
  'open water at 7, triple at 9',
  'short combination after the turn',
  'jump-off over 1, 2, 5a, 8, 10',
  'inviting lines, soft distances',
  'reviewed with the technical delegate',
];
