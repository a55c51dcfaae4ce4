/** Assigns a function in a CPU profile to its module: a folder of src, a module of Node, or a package. */

export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** Samples in none of them are not work. */
const notWork = new Set(['(idle)', '(root)']);

/** The first that matches the name after `node:` or `internal/`. */
const nodeModules: readonly [pattern: RegExp, module: string][] = [
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
export function moduleOf({ functionName, url }: CallFrame): string | undefined {
  if (notWork.has(functionName) && url === '') return undefined;
  if (url === '') return nativeModule(functionName);
  if (url.startsWith('wasm:')) return 'undici'; // its parser; nothing else here is WASM
  if (url.startsWith('node:')) {
    const name = url.slice('node:'.length).replace(/^internal\//, '');
    return toNodeModule(nodeModules.find(([pattern]) => pattern.test(name))?.[1] ?? 'others');
  }
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (dependency !== undefined) return dependency;
  const own = /.*\/((?:src|dist)(?:\/[^/]+(?=\/))?)\//.exec(url) ?? /\/(bench\/[^/]+)$/.exec(url);
  return own?.[1] ?? 'others';
}

const toNodeModule = (module: string): string => (module === 'undici' ? module : `node: ${module}`);

function nativeModule(functionName: string): string {
  if (functionName === '(garbage collector)') return 'collector';
  if (functionName === '(program)') return 'native: without a name';
  if (functionName.startsWith('RegExp: ')) return 'regular expressions';
  if (/^write(?:v|Buffer|\w*String)$/.test(functionName)) return 'native: writes to sockets';
  return 'native: others by name';
}

export interface RoomTime {
  readonly module: string;
  /** Of all the work, 0 to 1. */
  readonly share: number;
}

/** The modules by their share, the most first. */
export function toModules(samples: Iterable<{ readonly frame: CallFrame; readonly us: number }>): RoomTime[] {
  const modules = new Map<string, number>();
  let allUs = 0;
  for (const { frame, us } of samples) {
    const module = moduleOf(frame);
    if (module === undefined) continue;
    modules.set(module, (modules.get(module) ?? 0) + us);
    allUs += us;
  }
  return [...modules].map(([module, us]) => ({ module, share: us / allUs })).toSorted((a, b) => b.share - a.share);
}
