import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { patientMs } from '../../test/support/time/patience.ts';

const module = fileURLToPath(new URL('process-memory.ts', import.meta.url));

/** Compiles a function that makes and drops objects, and keeps buffers for a while. */
const compiling = `
  import { setTimeout as wait } from 'node:timers/promises';
  import { createProcessMemory, setUpEngine } from ${JSON.stringify(module)};
  const recent = new Array(8).fill(null);
  class Made { constructor(at) { this.at = at; this.more = { at }; this.next = null; } sum() { return this.at + this.more.at; } }
  function handle(at) {
    const made = new Made(at);
    made.next = made.more;
    recent[at & 7] = made;
    return made.sum() + (recent[(at + 1) & 7]?.sum() ?? 0);
  }
  const memory = createProcessMemory();
  const bodies = [];
  for (let round = 0; round < 4; round += 1) {
    for (let at = 0; at < 100_000; at += 1) handle(at);
    bodies.push(Buffer.alloc(10_000_000));
    await wait(50);
  }
  recent.fill(null);
  console.log('compiled');
`;

const reducing = /Mark-Compact \(reduce\)/;

/** How often compiled code was dropped after it, as nothing that it names is left. */
async function dropsAfter(
  code: string,
  ...flags: string[]
): Promise<{ readonly drops: number; readonly output: string }> {
  const child = spawn(
    process.execPath,
    ['--trace-deopt', '--trace-gc', ...flags, '--input-type=module', '--eval', compiling + code],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [, output] = (await text(child.stdout)).split('compiled\n');
  assert.ok(output !== undefined, 'it got so far');
  return { drops: output.split('embedded weak objects cleared').length - 1, output };
}

test('after setUpEngine() V8 keeps the compiled code of an idle process', async () => {
  const soon = ['--memory-reducer-delay-ms=50', '--gc-memory-reducer-start-delay-ms=50'];
  // V8 looks whether more is to be had after a collection, and calls a process idle when it allocated little in five seconds.
  const idling = `bodies.length = 0; memory.beginCollection(); await wait(${patientMs(1_500)});`;
  const [byItself, kept] = await Promise.all([
    dropsAfter(idling, ...soon),
    dropsAfter(`setUpEngine(); ${idling}`, ...soon),
  ]);
  assert.match(byItself.output, reducing);
  assert.ok(byItself.drops > 0);
  assert.doesNotMatch(kept.output, reducing);
});

test('an incremental collection frees buffers and keeps compiled code, which a forced collection drops', async () => {
  const freeing = (how: string): string => `
    bodies.length = 0;
    memory.${how}();
    for (let times = 0; times < 100 && memory.readBufferBytes() >= 10_000_000; times += 1) await wait(100);
    console.log('held', memory.readBufferBytes());
  `;
  const [begun, atOnce] = await Promise.all(
    ['beginCollection', 'collectGarbage'].map((how) => dropsAfter(`setUpEngine(); ${freeing(how)}`)),
  );
  assert.ok(begun !== undefined);
  assert.ok(Number(/held (\d+)/.exec(begun.output)?.[1]) < 10_000_000, begun.output);
  assert.match(begun.output, /Incremental Mark-Compact/);
  assert.doesNotMatch(begun.output, reducing);
  assert.ok((atOnce?.drops ?? 0) > 0);
});
