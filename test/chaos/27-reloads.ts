/** Promise 27: each new configuration under load is applied completely or not at all, with reasons, and no request notices. */

import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { type RawResponse, send, toRequestBytes } from '../support/clients/raw-client.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { definePromise, type Scale } from './promise.ts';
import { startLoad } from './support/clients/load.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';

interface Size {
  readonly reloads: number;
  readonly invalid: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { reloads: 100, invalid: 10 },
  short: { reloads: 20, invalid: 5 },
};

const clients = 16;
/** So long that most requests are in flight at a reload, and end after it. */
const longestAnswerMs = 60;
const longestPauseMs = 60;
const reactionLimitMs = 10_000;
const staleKey = 'a-key-that-was-never-in-force';

/** One fault in an otherwise good file: where the log must say it is, and in which words. */
interface Fault {
  readonly path: string;
  readonly reason: RegExp;
  spoil(good: string): string;
}

const faults: readonly Fault[] = [
  { path: 'modles', reason: /did you mean models/, spoil: (good) => good.replace('models:', 'modles:') },
  {
    path: 'models[0].targets[0].upstream',
    reason: /unknown upstream .*nowhere/,
    spoil: (good) => good.replace('upstream: up }', 'upstream: nowhere }'),
  },
  { path: '', reason: /is not closed/, spoil: (good) => good.replace('port: 0', 'port: [0') },
  { path: 'keys[0].secret', reason: /at least 24/, spoil: (good) => good.replace(/secret: \S+ /, 'secret: short ') },
  { path: 'server.port', reason: /0 to 65535/, spoil: (good) => good.replace('port: 0', 'port: 99999') },
];

export default definePromise({
  no: 27,
  title: '100 configuration reloads under load, 10 of them invalid',
  async run({ t, scale, seed, progress }) {
    const { reloads, invalid } = sizes[scale];
    const every = reloads / invalid;
    const random = createRandom(seed);
    const upstreams = await Promise.all([0, 1].map((index) => startUpstream(`upstream-${index}`, random)));
    for (const upstream of upstreams) t.after(() => upstream.close());
    const [first] = upstreams;
    if (first === undefined) throw new Error('there is no upstream');
    const key = 'the-first-key-with-enough-characters';
    const gateway = await startGatewayProcess({ config: toYaml({ upstream: first, model: 'model-start', key }) });
    t.after(() => gateway.stop());

    const load = startLoad(t, {
      port: gateway.port,
      requests: [toRequest('m', key)],
      connections: clients,
      maxMs: reloads * 1_000 + 20_000,
    });

    const notTaken: string[] = [];
    const taken: string[] = [];
    const silent: string[] = [];
    let inForce = 'model-start';
    for (let round = 0; round < reloads; round += 1) {
      progress(`reload ${round + 1} of ${reloads}, ${load.answered} requests answered`);
      const model = `model-${round}`;
      const upstream = upstreams[round % upstreams.length] ?? first;
      const fault = (round + 1) % every === 0 ? faults[Math.floor(round / every) % faults.length] : undefined;
      const good = toYaml({ upstream, model, key });
      if (fault === undefined) {
        await replaceFile(gateway.configFile, good);
        gateway.signal('SIGHUP');
        if (await becomesServed(gateway, model, key)) {
          if ((await statusOf(gateway, inForce, key)) !== 404)
            notTaken.push(`${inForce} still answers beside ${model}`);
          inForce = model;
        } else notTaken.push(`${model} does not answer`);
      } else {
        const said = gateway.log().length;
        // Everything else of it is new: the model, the address of the upstream, and one more key.
        const spoilt = fault.spoil(`${good}  - { id: more, secret: ${staleKey} }\n`);
        await replaceFile(gateway.configFile, spoilt);
        gateway.signal('SIGHUP');
        const line = await refusalAfter(gateway, said, fault);
        if (line === undefined) silent.push(`${fault.path}, ${fault.reason}`);
        const statuses = [
          await statusOf(gateway, model, key),
          await statusOf(gateway, inForce, staleKey),
          await statusOf(gateway, inForce, key),
        ].join();
        if (statuses !== '404,401,200') taken.push(`${fault.path || 'a file that is no YAML'}: ${statuses}`);
      }
      await wait(random() * longestPauseMs);
    }

    const report = await load.stop();
    const failed = report.broken + report.refused + report.answered - (report.statuses['200'] ?? 0);
    return [
      {
        name: 'requests answered during the reloads',
        bar: 'some for each',
        measured: `${report.answered}, in ${(report.durationMs / 1_000).toFixed(1)} s`,
        met: report.answered > reloads,
      },
      none(
        'failed requests',
        Array.from({ length: failed }, (_, index) => report.failures[index] ?? 'one more'),
      ),
      none(`of ${reloads - invalid} valid configurations: not taken whole`, notTaken),
      none(`of ${invalid} invalid ones: taken, in part or whole`, taken),
      none('refused without the place and the reason in the log', silent),
    ];
  },
});

async function startUpstream(name: string, random: () => number): Promise<FakeUpstream> {
  return startFakeUpstream(async (call, reply) => {
    await reply.sleep(random() * longestAnswerMs);
    return reply.json(200, { from: origin(name, call.header('authorization')) });
  });
}

/** Which address a call went to, and with the credential of which configuration. */
function origin(upstream: string, credential = ''): string {
  return `${upstream}, with the key of ${credential.replace(/^.*-of-/, '')}`;
}

interface Wanted {
  readonly upstream: FakeUpstream;
  readonly model: string;
  readonly key: string;
}

function toYaml({ upstream, model, key }: Wanted): string {
  return [
    'store: sqlite:postern.db',
    'server:',
    '  port: 0',
    'upstreams:',
    `  - { id: up, family: openai, base_url: "${upstream.url}", api_key: sk-upstream-key-of-${model} }`,
    'models:',
    ...['m', model].map((id) => `  - { id: ${id}, operations: [embeddings], targets: [{ upstream: up }] }`),
    'keys:',
    `  - { id: first, secret: ${key} }`,
    '',
  ].join('\n');
}

/** In one step, as careful tools write files. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.next`, text);
  await rename(`${path}.next`, path);
}

function toRequest(model: string, key: string): Buffer {
  return toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', key]], body: { model, input: 'x' } });
}

function ask({ port }: GatewayProcess, model: string, key: string): Promise<RawResponse> {
  return send(port, toRequest(model, key));
}

async function statusOf(gateway: GatewayProcess, model: string, key: string): Promise<number> {
  return (await ask(gateway, model, key)).status;
}

async function becomesServed(gateway: GatewayProcess, model: string, key: string): Promise<boolean> {
  const endMs = performance.now() + reactionLimitMs;
  while (performance.now() < endMs) {
    if ((await statusOf(gateway, model, key)) === 200) return true;
    await wait(5);
  }
  return false;
}

/** The line of the log, behind so many lines, that refuses the file for this fault. */
async function refusalAfter(gateway: GatewayProcess, said: number, fault: Fault): Promise<unknown> {
  const endMs = performance.now() + reactionLimitMs;
  while (performance.now() < endMs) {
    const line = gateway
      .log()
      .slice(said)
      .find(({ msg, faults }) => msg === 'configuration not reloaded' && names(faults, fault));
    if (line !== undefined) return line;
    await wait(10);
  }
  return undefined;
}

function names(reported: unknown, { path, reason }: Fault): boolean {
  if (!Array.isArray(reported)) return false;
  return reported.some((one: unknown) => {
    if (typeof one !== 'object' || one === null || !('path' in one) || !('message' in one)) return false;
    return one.path === path && reason.test(String(one.message));
  });
}
