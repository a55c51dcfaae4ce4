/** Says of a function in a profile which room of the house it belongs to: a folder of ours, a module of Node's, a package. */

export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** Samples in none of them are not work. */
const notWork = new Set(['(idle)', '(root)']);

/** The first that matches what stands behind `node:` and `internal/`. */
const nodeModules: readonly [pattern: RegExp, room: string][] = [
  [/^deps\/undici/, 'undici'],
  [/^(?:_http|http)/, 'http'],
  [/^(?:streams\/|_?stream(?!_base))/, 'streams'],
  [/^(?:net|stream_base_commons|_?tls|dtrace)/, 'net'],
  [/^(?:timers|priority_queue|linkedlist)/, 'timers'],
  [/^(?:buffer|encoding|string_decoder)/, 'buffers'],
  [/^(?:events|event_target|abort_controller)/, 'events'],
  [/^(?:process\/(?:task_queues|promises)|async_hooks|async_local_storage)/, 'ticks and async hooks'],
  [/^(?:fs|sync_write_stream)/, 'fs'],
  [/^crypto/, 'crypto'],
];

/** Undefined: the thread had nothing to do. */
export function roomOf({ functionName, url }: CallFrame): string | undefined {
  if (notWork.has(functionName) && url === '') return undefined;
  if (url === '') return nativeRoom(functionName);
  if (url.startsWith('wasm:')) return 'undici'; // its parser; nothing else here is WASM
  if (url.startsWith('node:')) {
    const name = url.slice('node:'.length).replace(/^internal\//, '');
    return toNodeRoom(nodeModules.find(([pattern]) => pattern.test(name))?.[1] ?? 'others');
  }
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (dependency !== undefined) return dependency;
  const own = /.*\/((?:src|dist)(?:\/[^/]+(?=\/))?)\//.exec(url) ?? /\/(bench\/[^/]+)$/.exec(url);
  return own?.[1] ?? 'others';
}

const toNodeRoom = (room: string): string => (room === 'undici' ? room : `node: ${room}`);

function nativeRoom(functionName: string): string {
  if (functionName === '(garbage collector)') return 'collector';
  if (functionName === '(program)') return 'native: without a name';
  if (functionName.startsWith('RegExp: ')) return 'regular expressions';
  if (/^write(?:v|Buffer|\w*String)$/.test(functionName)) return 'native: writes to sockets';
  return 'native: others by name';
}

export interface RoomTime {
  readonly room: string;
  /** Of all the work, 0 to 1. */
  readonly share: number;
}

/** The rooms by their share, the most first. */
export function toRooms(samples: Iterable<{ readonly frame: CallFrame; readonly us: number }>): RoomTime[] {
  const rooms = new Map<string, number>();
  let allUs = 0;
  for (const { frame, us } of samples) {
    const room = roomOf(frame);
    if (room === undefined) continue;
    rooms.set(room, (rooms.get(room) ?? 0) + us);
    allUs += us;
  }
  return [...rooms].map(([room, us]) => ({ room, share: us / allUs })).toSorted((a, b) => b.share - a.share);
}
