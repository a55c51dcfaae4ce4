import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStat, type ThreadTime, usedByOwner } from './proc.ts';

test('a process name with blanks and parentheses shifts no field', () => {
  const line = '42 (a (b) c) S 1 42 42 0 -1 4194560 1 0 0 0 150 25 7 8 20 0 11 0 1 2 3\n';
  assert.deepEqual(parseStat(line), { id: 42, name: 'a (b) c', userSeconds: 1.5, kernelSeconds: 0.25 });
});

test('reports CPU time between two readings per thread, busiest first, without idle ones', () => {
  const thread = (id: number, name: string, userSeconds: number, kernelSeconds = 0): ThreadTime => ({
    id,
    name,
    userSeconds,
    kernelSeconds,
  });
  const before = [thread(7, 'node-MainThread', 10, 1), thread(8, 'node-V8Worker', 2), thread(9, 'libuv-worker', 3)];
  const after = [
    thread(7, 'node-MainThread', 11, 1.5),
    thread(8, 'node-V8Worker', 3),
    thread(9, 'libuv-worker', 3),
    thread(10, 'node-V8Worker', 2),
    thread(11, 'ledger', 0.25, 0.25),
  ];
  assert.deepEqual(usedByOwner(7, before, after), [
    { owner: "V8's helpers", userSeconds: 3, kernelSeconds: 0 },
    { owner: 'main', userSeconds: 1, kernelSeconds: 0.5 },
    { owner: 'ledger', userSeconds: 0.25, kernelSeconds: 0.25 },
  ]);
});
