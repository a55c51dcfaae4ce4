/** Promise 20: with any proxy before or behind the gateway, all see the same requests with the same boundaries. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { WireError } from '../support/clients/http-message.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { upstreamCredential } from '../support/gateways/pair.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { startNginx } from '../support/servers/nginx.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, definePromise, type Figure } from './promise.ts';
import { startHaproxy } from './support/disturbances/haproxy.ts';
import {
  oddVariants,
  plain,
  randomVariant,
  type SmugglingVariant,
  wellFormedVariants,
} from './support/hostile/smuggling-variants.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';
import { type Case, disagreements, type LoggedRequest } from './support/readings/hops.ts';

const scales = {
  long: { shareOfOdd: 1, random: 1_000, deliveries: ['at once', 'with a pause'] },
  short: { shareOfOdd: 0.4, random: 0, deliveries: ['at once'] },
} as const;

const clients = 40;
const answerTimeoutMs = 4_000;
/** Before the hidden request, so that it is read by itself. */
const pauseMs = 50;
const quietMs = 300;

/** A way that requests take; what it passes on goes to the model that it names. */
interface Way {
  readonly name: string;
  readonly model: 'direct' | 'behind';
  readonly port: number;
  /** Shown in the long form only: it differs from another one in little. */
  readonly isLong?: true;
  /** What the server in front logged, where there is one. */
  log?(): Promise<readonly LoggedRequest[]>;
}

export default definePromise({
  no: 20,
  title: 'request smuggling',
  async run({ t, scale, seed, progress }) {
    const upstream = await startFakeUpstream((request, reply) => reply.bytes(200, [], request.body));
    t.after(() => upstream.close());
    const behind = await startBehind(t, upstream);
    const rig = await startRig(t, {
      server: { timeouts: { headers: '1s', request: '1s' } },
      upstreams: [
        { id: 'up', family: 'openai', base_url: upstream.url, api_key: upstreamCredential },
        { id: 'nginx', family: 'openai', base_url: `http://127.0.0.1:${behind.port}`, api_key: upstreamCredential },
      ],
      models: [
        { id: 'direct', space: 's', targets: [{ upstream: 'up' }] },
        { id: 'behind', space: 's', targets: [{ upstream: 'nginx' }] },
      ],
    });

    const random = createRandom(seed);
    const { shareOfOdd, random: randomCount, deliveries } = scales[scale];
    const variants = [
      ...oddVariants.filter(() => random() < shareOfOdd),
      ...Array.from({ length: randomCount }, () => randomVariant(random)),
    ];
    const trials: Trial[] = [
      ...deliveries.flatMap((delivery) =>
        variants.map((variant) => ({ variant, pauses: delivery === 'with a pause' })),
      ),
      ...wellFormedVariants.flatMap((variant) => [
        { variant, pauses: false },
        { variant, pauses: true },
      ]),
    ];
    const figures: Figure[] = [];
    for (const way of (await startWays(t, rig)).filter(({ isLong }) => scale === 'long' || isLong !== true)) {
      const firstExchange = rig.settled.length;
      const firstRequest = upstream.requests.length;
      const firstBehind = (await behind.log()).length;
      const cases = await runCases(way, trials, (left) => progress(`${way.name}: ${left} cases are left`));
      await quiet(rig, upstream);

      const found = disagreements({
        cases,
        front: await way.log?.(),
        gateway: rig.settled.slice(firstExchange),
        behind: way.model === 'behind' ? (await behind.log()).slice(firstBehind) : undefined,
        upstream: upstream.requests.slice(firstRequest),
      });
      const counted = `${rig.settled.length - firstExchange} requests in the gateway, ${upstream.requests.length - firstRequest} behind it`;
      figures.push(none(`${way.name}: disagreements in ${cases.length} cases`, found, counted));
    }
    return [
      ...figures,
      atMost('malformed in the journal of the upstream', upstream.malformed.length, 0),
      none('refused by the server behind', await behind.complaints()),
    ];
  },
});

/** Small enough that a request without an end does not hold up the run. */
const nginxPatience =
  'client_header_timeout 400ms; client_body_timeout 400ms; keepalive_timeout 400ms; lingering_timeout 400ms;';
const nginxLog = `log_format hops escape=json
  '{"status":"$status","server":"$upstream_addr","upstream":"$upstream_status","body":"$request_body","mark":"$http_x_request_id"}';
  access_log hops.log hops; underscores_in_headers on; ignore_invalid_headers off; client_body_buffer_size 128k;`;

async function startWays(t: TestContext, rig: Rig): Promise<Way[]> {
  const nginx = async (name: string, proxy: string): Promise<Way> => {
    const server = await startNginx(t, {
      http: `${nginxLog} upstream gateway { server 127.0.0.1:${rig.port}; keepalive 2; }`,
      server: `${nginxPatience} merge_slashes off;
        location / {
          proxy_pass http://gateway; proxy_set_header Host $http_host; proxy_next_upstream off; ${proxy}
        }`,
    });
    return { name, model: 'direct', port: server.port, log: () => readNginxLog(server.directory) };
  };
  const haproxy = async (name: string, frontend: readonly string[]): Promise<Way> => {
    const server = await startHaproxy(t, {
      port: rig.port,
      defaults: [
        'timeout connect 1s',
        'timeout client 400ms',
        'timeout server 5s',
        'timeout http-request 400ms',
        'timeout http-keep-alive 400ms',
        'option http-keep-alive',
        'retries 0',
      ],
      frontend: [
        'http-request set-var(txn.mark) req.hdr(x-request-id)',
        'log-format "hop %ST %s %[var(txn.mark)]"',
        ...frontend,
      ],
      backend: ['http-reuse always'],
    });
    return { name, model: 'direct', port: server.port, log: async () => readHaproxyLog(server.output()) };
  };
  const isLong = true;
  const kept = 'proxy_http_version 1.1; proxy_set_header Connection "";';
  return [
    await nginx('nginx in front', kept),
    { ...(await nginx('nginx in front, passing bodies as they come', `${kept} proxy_request_buffering off;`)), isLong },
    { ...(await nginx('nginx in front, speaking HTTP/1.0', '')), isLong },
    { ...(await haproxy('HAProxy in front', [])), isLong },
    await haproxy('HAProxy in front, accepting invalid requests', ['option accept-invalid-http-request']),
    { name: 'nginx behind', model: 'behind', port: rig.port },
  ];
}

interface Behind {
  readonly port: number;
  log(): Promise<readonly LoggedRequest[]>;
  /** What nginx wrote of requests that it did not understand. */
  complaints(): Promise<string[]>;
}

async function startBehind(t: TestContext, upstream: FakeUpstream): Promise<Behind> {
  const server = await startNginx(t, {
    http: `${nginxLog} upstream journal { server 127.0.0.1:${upstream.port}; keepalive 2; }`,
    server: `location / { proxy_pass http://journal; proxy_http_version 1.1; proxy_set_header Connection ""; }`,
  });
  return {
    port: server.port,
    log: () => readNginxLog(server.directory),
    complaints: async () => {
      const errors = await readFile(join(server.directory, 'error.log'), 'latin1');
      return errors.split('\n').filter((line) => /client sent|\[(?:warn|error|crit|alert|emerg)\]/.test(line));
    },
  };
}

const nginxLineSchema = z.object({
  status: z.string(),
  server: z.string(),
  upstream: z.string(),
  body: z.string(),
  mark: z.string(),
});

async function readNginxLog(directory: string): Promise<LoggedRequest[]> {
  const text = await readFile(join(directory, 'hops.log'), 'latin1').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { status, server, upstream, body, mark } = nginxLineSchema.parse(JSON.parse(line));
      // What broke off while it was passed on has no answer from the other side.
      const isAnswered = upstream !== '' && upstream !== '-';
      return {
        mark,
        status: Number(isAnswered ? upstream : status),
        forwarded: server !== '' && server !== '-',
        bodyBytes: body === '' ? undefined : body.length,
      };
    });
}

function readHaproxyLog(output: string): LoggedRequest[] {
  return [...output.matchAll(/^hop (-?\d+) (\S+) (.*)$/gm)].map(([, status, server, mark = '']) => ({
    mark,
    status: Number(status),
    forwarded: server === 'one',
    bodyBytes: undefined,
  }));
}

interface Trial {
  readonly variant: SmugglingVariant;
  /** Whether the hidden request comes by itself, or everything at once. */
  readonly pauses: boolean;
}

/** Each on a connection of its own; between them, honest requests on others, which share what the front keeps open. */
async function runCases(way: Way, trials: readonly Trial[], progress: (left: number) => void): Promise<Case[]> {
  const cases: Case[] = [];
  const left = trials.map((trial, index) => ({ trial, index })).reverse();
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      cases.push(await runTrial(way, next.trial, `c${next.index}`), await runHonest(way, `c${next.index}-honest`));
      progress(left.length);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  return cases;
}

async function runTrial({ port, model }: Way, { variant, pauses }: Trial, prefix: string): Promise<Case> {
  const marks = { outer: `${prefix}-outer`, carrier: `${prefix}-carrier`, inner: `${prefix}-inner` };
  const second = `${prefix}-second`;
  const text = variant.toText(marks, model) + plain(second, model, ['Connection: close']);
  const cutAt = pauses ? Math.max(0, text.indexOf(plain(marks.inner, model))) : 0;
  const answers = await readAnswers(port, [text.slice(0, cutAt), text.slice(cutAt)]);
  return {
    name: pauses ? `${variant.name}, with a pause` : variant.name,
    marks: [...Object.values(marks), second],
    holds: variant.holds === undefined ? undefined : [...variant.holds.map((part) => marks[part]), second],
    answers,
  };
}

async function runHonest({ port, model }: Way, mark: string): Promise<Case> {
  const answers = await readAnswers(port, [plain(mark, model, ['Connection: close'])]);
  return { name: 'an honest request', marks: [mark], holds: [mark], answers };
}

/** All answers until the server ends the connection. */
async function readAnswers(port: number, parts: readonly string[]): Promise<RawResponse[]> {
  const connection = await connect(port, { timeoutMs: answerTimeoutMs });
  const answers: RawResponse[] = [];
  try {
    for (const [index, part] of parts.filter((text) => text !== '').entries()) {
      if (index > 0) await wait(pauseMs);
      await connection.write(Buffer.from(part, 'latin1'));
    }
    for (;;) {
      const answer = await connection.nextResponse();
      if (answer.status === 0) return answers;
      answers.push(answer);
      if (!answer.complete) return answers;
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return answers; // to HTTP/0.9 a front answers without a head, as the last it says
  } finally {
    connection.destroy();
  }
}

/** Waits until nothing more happens: requests of a client that left may still run. */
async function quiet(rig: Rig, upstream: FakeUpstream): Promise<void> {
  for (let seen = -1; seen !== rig.settled.length + upstream.requests.length; await wait(quietMs)) {
    seen = rig.settled.length + upstream.requests.length;
  }
}
