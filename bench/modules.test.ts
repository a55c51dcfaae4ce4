import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moduleOf, toModules } from './modules.ts';

const at = (url: string, functionName = 'any') => ({ functionName, url, lineNumber: 0 });

test('a profiled function is attributed to its folder of src, its Node.js module or its package', () => {
  const modules = {
    'file:///home/x/src/postern/src/http/edge.ts': 'src/http',
    'file:///home/x/src/pipeline/deep/plan.ts': 'src/pipeline',
    'file:///home/x/src/main.ts': 'src',
    'file:///home/x/bench/raw-proxy.ts': 'bench/raw-proxy.ts',
    'file:///home/x/node_modules/undici/lib/dispatcher/client-h1.js': 'undici',
    'file:///home/x/node_modules/a/node_modules/@redis/client/index.js': '@redis/client',
    'wasm://wasm/0003f1e2': 'undici',
    'node:internal/deps/undici/undici': 'undici',
    'node:net': 'node: net',
    'node:internal/stream_base_commons': 'node: net',
    'node:internal/streams/writable': 'node: streams',
    'node:_http_outgoing': 'node: http',
    'node:internal/timers': 'node: timers',
    'node:buffer': 'node: buffers',
    'node:internal/process/task_queues': 'node: ticks and async hooks',
    'node:internal/util/inspect': 'node: others',
    'evalmachine.<anonymous>': 'others',
  };
  for (const [url, module] of Object.entries(modules)) assert.equal(moduleOf(at(url)), module, url);
});

test('profile frames without a file are native code or garbage collection, and idle time is left out', () => {
  assert.equal(moduleOf(at('', '(program)')), 'native: without a name');
  assert.equal(moduleOf(at('', 'update')), 'native: others by name');
  for (const name of ['writev', 'writeBuffer', 'writeLatin1String', 'writeString']) {
    assert.equal(moduleOf(at('', name)), 'native: writes to sockets');
  }
  assert.equal(moduleOf(at('', 'RegExp: ^a+$')), 'regular expressions');
  assert.equal(moduleOf(at('', '(garbage collector)')), 'collector');
  assert.equal(moduleOf(at('', '(idle)')), undefined);
});

test("the modules' shares are of busy time, without idle time", () => {
  const samples = [
    { frame: at('node:net'), us: 30 },
    { frame: at('', '(idle)'), us: 900 },
    { frame: at('file:///x/src/http/edge.ts'), us: 60 },
    { frame: at('node:net'), us: 30 },
    { frame: at('node:fs'), us: 0 },
  ];
  assert.deepEqual(toModules(samples), [
    { module: 'node: net', share: 0.5 },
    { module: 'src/http', share: 0.5 },
    { module: 'node: fs', share: 0 },
  ]);
});
