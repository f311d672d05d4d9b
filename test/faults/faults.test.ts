// Each fault of the local stack once, under the workload.
import { playEachRow } from './each-row.ts';
import { startLocal } from './local.ts';
import { table } from './table.ts';

playEachRow(table.local, startLocal);
