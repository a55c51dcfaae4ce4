import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { endAtNextSignal, nextSignal } from './stop.ts';

test('a signal that comes twice at once, as one Ctrl-C under npm, drains; a later one ends the process', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const listeners = process.listenerCount('SIGINT');
  const exit = t.mock.method(process, 'exit', () => undefined as never);
  const stopping = nextSignal();
  process.emit('SIGINT', 'SIGINT');
  assert.equal(await stopping, 'SIGINT');
  // Without a listener this one would have its default action.
  assert.equal(process.listenerCount('SIGINT'), listeners + 1);
  endAtNextSignal({ warn: () => undefined, flush: () => undefined });
  process.emit('SIGINT', 'SIGINT');
  await turn();
  assert.equal(exit.mock.callCount(), 0);
  t.mock.timers.tick(200);
  assert.equal(process.listenerCount('SIGINT'), listeners + 1);
  process.emit('SIGINT', 'SIGINT');
  assert.deepEqual(exit.mock.calls[0]?.arguments, [1]);
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM');
});
