/**
 * Runs test files in this process, for `tools/test.ts`. Node's runner follows each promise, timer and socket to know which test an uncaught
 * error belongs to. Following promises takes a fifth of the tests' CPU, so here it follows everything else: an error that it cannot assign
 * to a test still fails the run, with its message.
 */

import { createHook } from 'node:async_hooks';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ options: { timeout: { type: 'string' } }, allowPositionals: true });

followNoPromises();
const made = collectTests();
run({ files: positionals, isolation: 'none', timeout: Number(values.timeout) })
  .on('test:summary', async ({ success }) => {
    if (!success) process.exitCode = 1;
    // The runner drops the error of a file that fails after its first test. A second import throws it again, and runs nothing.
    for (const file of positionals) await import(pathToFileURL(file).href);
  })
  .on('test:dequeue', ({ nesting }) => {
    if (nesting === 0) made.length = 0;
  })
  .on('test:complete', ({ nesting }) => {
    // The runner keeps all tests and hooks until its end, and with their functions whole gateways: a gigabyte for 450 tests.
    if (nesting === 0) for (const one of made.splice(0)) Reflect.set(one, 'fn', undefined);
  })
  .compose(spec)
  .pipe(process.stdout);

/** The tests and hooks that the runner makes, each of which is an asynchronous resource. */
function collectTests(): object[] {
  const tests: object[] = [];
  const init = (_id: number, type: string, _cause: number, resource: object): void => {
    if (type === 'Test') tests.push(resource);
  };
  createHook({ init, trackPromises: false }).enable();
  return tests;
}

/** Makes Node's runner follow no promises: its next hook gets `trackPromises: false`. Does nothing if Node has no such hooks. */
function followNoPromises(): void {
  const like = createHook({ init: () => undefined, trackPromises: false });
  const mark = Object.getOwnPropertySymbols(like).find((symbol) => Reflect.get(like, symbol) === true);
  const hooks: { enable: typeof like.enable } = Object.getPrototypeOf(like);
  const { enable } = hooks;
  if (mark === undefined) return;
  hooks.enable = function enableOnce() {
    hooks.enable = enable;
    Reflect.set(this, mark, true);
    return enable.call(this);
  };
}
