/**
 * Measures 100,000 texts through an upstream that takes 96 per call and 20 ms a call: as lists that the gateway splits, one by one, and one by
 * one with small lists combined. Reports calls, time, and the cost at a ten-thousandth of a dollar per call.
 *
 *   node bench/list-split.ts [--items 100000]
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toTable } from '../src/cli/output.ts';
import { createChildren, listeningPort } from './children.ts';

const { values } = parseArgs({ options: { items: { type: 'string', default: '100000' } } });
const items = Number(values.items);
const most = 96;
const callMs = 20;
const clients = 64;
const key = 'bench-key-with-enough-characters-000';
const launcher = fileURLToPath(new URL('../bin/postern', import.meta.url));
const children = createChildren(availableParallelism());
const temporary = mkdtempSync(join(tmpdir(), 'postern-lists-'));
process.once('exit', () => {
  children.killAll();
  rmSync(temporary, { recursive: true, force: true });
});

const vector = `[${Array.from({ length: 64 }, (_, index) => (index / 64).toFixed(9)).join(',')}]`;
let calls = 0;

function answerTo(count: number): string {
  const data = Array.from(
    { length: count },
    (_, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
  );
  return `{"object":"list","data":[${data.join(',')}],"model":"m","usage":{"prompt_tokens":${count},"total_tokens":${count}}}`;
}

const upstream = createServer((incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    calls += 1;
    const { input } = JSON.parse(Buffer.concat(chunks).toString());
    const count = Array.isArray(input) ? input.length : 1;
    setTimeout(() => {
      outgoing.writeHead(count > most ? 400 : 200, { 'content-type': 'application/json' });
      outgoing.end(count > most ? '{"error":{"message":"too many"}}' : answerTo(count));
    }, callMs);
  });
});

async function startGateway(name: string, port: number, model: object): Promise<number> {
  const home = join(temporary, name);
  mkdirSync(home, { recursive: true });
  const config = {
    server: { port: 0 },
    console: { port: 0 },
    store: 'sqlite:postern.db',
    upstreams: [{ id: 'u', family: 'openai', base_url: `http://127.0.0.1:${port}/v1`, api_key: 'sk-bench' }],
    models: [
      {
        id: 'm',
        operations: ['embeddings'],
        targets: [{ upstream: 'u', max_items: most }],
        price: { request: 0.0001 },
        ...model,
      },
    ],
    keys: [{ id: 'bench', secret: key }],
  };
  writeFileSync(join(home, 'postern.json'), JSON.stringify(config));
  const child = children.start({
    command: launcher,
    args: ['serve', '--config', join(home, 'postern.json')],
    outputFile: join(home, 'access.log'),
    core: 'subject',
    cwd: home,
  });
  return listeningPort(child);
}

const agent = new Agent({ keepAlive: true, maxSockets: clients });

function ask(port: number, input: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const sent = request(
      { port, host: '127.0.0.1', method: 'POST', path: '/v1/embeddings', headers, agent },
      (answer) => {
        answer.resume();
        answer.on('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`status ${answer.statusCode}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify({ model: 'm', input }));
  });
}

/** `size` items a request, from as many clients as there are. */
async function measure(name: string, port: number, size: number): Promise<string[]> {
  calls = 0;
  let next = 0;
  const startMs = performance.now();
  const client = async (): Promise<void> => {
    while (next < items) {
      const from = next;
      next += size;
      const list = Array.from({ length: Math.min(size, items - from) }, (_, index) => `text number ${from + index}`);
      await ask(port, size === 1 ? list[0] : list);
    }
  };
  await Promise.all(Array.from({ length: size === 1 ? clients : 2 }, client));
  const seconds = (performance.now() - startMs) / 1_000;
  const aMinute = Math.round((items / seconds) * 60);
  return [name, String(calls), seconds.toFixed(1), aMinute.toLocaleString('en'), `$${(calls / 10_000).toFixed(2)}`];
}

await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const address = upstream.address();
if (address === null || typeof address === 'string') throw new Error('no TCP address');
const plain = await startGateway('plain', address.port, {});
const joining = await startGateway('joining', address.port, { coalesce: { window: '5ms', max_items: most } });
const rows = [
  await measure('lists of 2,000, taken apart', plain, 2_000),
  await measure('one by one, joined', joining, 1),
  await measure('one by one', plain, 1),
];
for (const line of toTable(['HOW', 'CALLS', 'SECONDS', 'ITEMS A MINUTE', 'COST'], rows)) console.log(line);
upstream.close();
upstream.closeAllConnections();
process.exit(0);
