import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSummary } from './system-calls.ts';

test("strace's summary is parsed with and without errors, and without its total", () => {
  const text = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.12    0.501234          50     10000           writev
 30.00    0.250000          12     20417       117 read
  0.00    0.000000           0         1           restart_syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.751234          24     30418       117 total
`;
  assert.deepEqual(parseSummary(text), [
    { name: 'read', calls: 20417 },
    { name: 'writev', calls: 10000 },
    { name: 'restart_syscall', calls: 1 },
  ]);
});
