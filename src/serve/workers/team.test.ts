import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { patientMs } from '../../../test/support/time/patience.ts';

const program = fileURLToPath(new URL('../../../test/support/gateways/team-program.ts', import.meta.url));

async function run(behaviour: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, behaviour], { timeout: patientMs(15_000) });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('when workers fail to start five times in a row, the whole process ends with exit code 2', async () => {
  const lines = await run('dies');
  const deaths = lines.filter(({ msg }) => msg === 'worker exited unexpectedly');
  assert.deepEqual(
    deaths.map(({ code, delay_ms: delayMs }) => [code, delayMs]),
    [
      [3, 100],
      [3, 200],
      [3, 400],
      [3, 800],
    ],
  );
  // The final flush may overtake pending lines.
  const said = (text: string) => lines.find(({ msg }) => msg === text);
  assert.equal(said('workers fail to start: exiting')?.failed_starts, 5);
  assert.deepEqual([said('started')?.started, said('started')?.broken], [2, 2]);
});

test('a worker that ends because of a configuration fault is not restarted', async () => {
  const lines = await run('faulty');
  assert.deepEqual(
    lines.map(({ msg, started }) => [msg, started]),
    [['started', 1]],
  );
});

test('a worker still starting at shutdown gets the stop message as soon as it can receive messages', async () => {
  const lines = await run('late');
  assert.equal(lines.filter(({ msg }) => msg === 'worker is ready').length, 2);
  assert.equal(lines.find(({ msg }) => msg === 'ended')?.complete, true);
});

test('when one worker fails to start five times, the process continues while another worker serves', async () => {
  const lines = await run('one serves');
  const deaths = lines.filter(({ msg }) => msg === 'worker exited unexpectedly');
  assert.deepEqual(
    deaths.map(({ worker }) => worker),
    [2, 2, 2, 2, 2],
  );
  const report = lines.find(({ msg }) => msg === 'some workers fail to start');
  assert.deepEqual([report?.failed_starts, report?.serving], [5, 1]);
  const started = lines.find(({ msg }) => msg === 'started');
  assert.deepEqual(
    [started?.listening, started?.complete],
    [{ tcp: { address: '127.0.0.1', family: 'IPv4', port: 1 } }, true],
  );
});
