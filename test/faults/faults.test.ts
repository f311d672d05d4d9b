// Each fault of the local stack once, under the workload.
import { playEachRow } from './each-row.ts';
import { table } from './table.ts';
import { startLocal } from './targets/local.ts';

playEachRow(table.local, startLocal);
