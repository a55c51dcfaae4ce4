import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roomOf, toRooms } from './rooms.ts';

const at = (url: string, functionName = 'any') => ({ functionName, url, lineNumber: 0 });

test('a function belongs to the folder of src, the module of Node or the package that it stands in', () => {
  const rooms = {
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
  for (const [url, room] of Object.entries(rooms)) assert.equal(roomOf(at(url)), room, url);
});

test('what has no place is native code or the collector, and idle time is nothing', () => {
  assert.equal(roomOf(at('', '(program)')), 'native: without a name');
  assert.equal(roomOf(at('', 'update')), 'native: others by name');
  for (const name of ['writev', 'writeBuffer', 'writeLatin1String', 'writeString']) {
    assert.equal(roomOf(at('', name)), 'native: writes to sockets');
  }
  assert.equal(roomOf(at('', 'RegExp: ^a+$')), 'regular expressions');
  assert.equal(roomOf(at('', '(garbage collector)')), 'collector');
  assert.equal(roomOf(at('', '(idle)')), undefined);
});

test('shares are of the work alone', () => {
  const samples = [
    { frame: at('node:net'), us: 30 },
    { frame: at('', '(idle)'), us: 900 },
    { frame: at('file:///x/src/http/edge.ts'), us: 60 },
    { frame: at('node:net'), us: 30 },
    { frame: at('node:fs'), us: 0 },
  ];
  assert.deepEqual(toRooms(samples), [
    { room: 'node: net', share: 0.5 },
    { room: 'src/http', share: 0.5 },
    { room: 'node: fs', share: 0 },
  ]);
});
