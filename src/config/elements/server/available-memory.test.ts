import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { availableMemory } from './compile.ts';

const MiB = 1024 ** 2;
const machineBytes = 8 * 1024 * MiB;

/** What a process in such groups may use. */
function availableIn(t: TestContext, membership: string, files: Readonly<Record<string, string>>): number {
  const root = mkdtempSync(join(tmpdir(), 'postern-groups-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...files, membership })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return availableMemory(machineBytes, { membership: join(root, 'membership'), root });
}

test('in cgroup v2 the available memory is limited by memory.max or memory.high', (t) => {
  assert.equal(availableIn(t, '0::/app\n', { 'app/memory.max': `${512 * MiB}\n` }), 512 * MiB);
  const both = { 'app/memory.max': `${512 * MiB}\n`, 'app/memory.high': `${400 * MiB}\n` };
  assert.equal(availableIn(t, '0::/app\n', both), 400 * MiB);
  assert.equal(availableIn(t, '0::/\n', { 'memory.max': `${256 * MiB}\n` }), 256 * MiB);
});

test('in cgroup v1 the available memory is limited by memory.limit_in_bytes', (t) => {
  const membership = '9:name=systemd:/x\n4:cpu,memory:/docker/abc\n';
  const file = 'memory/docker/abc/memory.limit_in_bytes';
  assert.equal(availableIn(t, membership, { [file]: `${300 * MiB}\n` }), 300 * MiB);
  assert.equal(availableIn(t, membership, { [file]: '9223372036854771712\n' }), machineBytes);
  // A container that sees its own group as the root, under the name that it has outside.
  assert.equal(availableIn(t, membership, { 'memory/memory.limit_in_bytes': `${200 * MiB}\n` }), 200 * MiB);
});

test('the available memory is also limited by parent cgroups', (t) => {
  const files = { 'app.slice/memory.max': `${128 * MiB}\n`, 'app.slice/one.service/memory.max': 'max\n' };
  assert.equal(availableIn(t, '0::/app.slice/one.service\n', files), 128 * MiB);
});

test('without a cgroup limit the available memory is that of the machine', (t) => {
  assert.equal(availableIn(t, '0::/app\n', { 'app/memory.max': 'max\n' }), machineBytes);
  assert.equal(availableIn(t, '', {}), machineBytes);
  assert.equal(availableMemory(machineBytes, { membership: '/nowhere/at/all', root: '/nowhere' }), machineBytes);
});
