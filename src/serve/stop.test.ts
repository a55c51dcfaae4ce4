import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { endAtNextSignal, nextSignal } from './stop.ts';

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a signal that comes twice at once, as one Ctrl-C under npm, drains; a later one ends the process', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 5_000;
  t.mock.method(performance, 'now', () => nowMs);
  const listeners = process.listenerCount('SIGINT');
  t.after(() => process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM'));
  const exit = t.mock.method(process, 'exit', () => undefined as never);
  const stopping = nextSignal();
  process.emit('SIGINT', 'SIGINT');
  assert.equal(await stopping, 'SIGINT');
  // Without a listener this one would have its default action.
  assert.equal(process.listenerCount('SIGINT'), listeners + 1);
  // Start-up may take longer than the repetition: draining begins without the first listener.
  t.mock.timers.tick(200);
  assert.equal(process.listenerCount('SIGINT'), listeners);
  endAtNextSignal({ warn: () => undefined, flush: async () => undefined });
  assert.equal(process.listenerCount('SIGINT'), listeners + 1);
  nowMs += 199;
  process.emit('SIGINT', 'SIGINT');
  await soon();
  assert.equal(exit.mock.callCount(), 0);
  nowMs += 1;
  process.emit('SIGINT', 'SIGINT');
  await soon();
  assert.deepEqual(exit.mock.calls[0]?.arguments, [1]);
});
