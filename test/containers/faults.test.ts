// What containers alone show: each process and store loses its network without a word, and stores that are replaced.
import { playEachRow } from '../faults/each-row.ts';
import { table } from '../faults/table.ts';
import { startContainers } from '../faults/targets/containers.ts';

playEachRow(table.containers, startContainers);
