/** Promise 37: whatever the gateway's parser accepts, `node:http`, nginx and HAProxy parse identically, at any split. */

import type { TestContext } from 'node:test';
import { startNginx } from '../support/servers/nginx.ts';
import { answeredMethods, compareAnswer, faultOfAnswerSplit, randomAnswer } from '../support/wire/answer-comparison.ts';
import { createNodeReader } from '../support/wire/node-reading.ts';
import { readAsWeDo, splitsOf } from '../support/wire/own-reading.ts';
import { shown } from '../support/wire/reading.ts';
import { wireAnswers } from '../support/wire/wire-answer-cases.ts';
import { compareWithNode, faultOfSplit } from '../support/wire/wire-comparison.ts';
import { randomSplit, randomStream } from '../support/wire/wire-fuzz.ts';
import { wireRequests } from '../support/wire/wire-requests.ts';
import { type ChaosRig, definePromise, type Figure, type Scale } from './promise.ts';
import { startHaproxy } from './support/disturbances/haproxy.ts';
import type { Random } from './support/hostile/request-draft.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';
import {
  differenceBehind,
  originHeader,
  passedOn,
  startUpstream,
  type Upstream,
} from './support/readings/passed-on.ts';

interface Size {
  /** Read by us alone, in two ways of cutting them. */
  readonly alone: number;
  readonly againstNode: number;
  readonly answers: number;
  readonly throughProxies: number;
  /** For what is read by us alone. */
  readonly timeLimitMs: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { alone: 10_000_000, againstNode: 200_000, answers: 200_000, throughProxies: 4_000, timeLimitMs: 540_000 },
  short: { alone: 20_000, againstNode: 5_000, answers: 5_000, throughProxies: 200, timeLimitMs: 10_000 },
};

const sideBySide = 20;
const clients = 40;
/** Between two readings of the clock, and turns of the event loop. */
const aTurn = 1_000;

export default definePromise({
  no: 37,
  title: 'Postern, node:http, nginx and HAProxy read the same requests and responses in the same way',
  async run(rig) {
    const size = sizes[rig.scale];
    const random = createRandom(rig.seed);
    return [
      ...(await againstNode(size, random, rig)),
      ...(await answersAgainstNode(size, random, rig)),
      ...(await alone(size, random, rig)),
      ...(await throughProxies(size, random, rig)),
    ];
  },
});

async function againstNode({ againstNode: count }: Size, random: Random, { t, progress }: ChaosRig): Promise<Figure[]> {
  const reader = createNodeReader();
  t.after(() => reader.close());
  const written: string[] = [];
  const excepted = new Set<string>();
  for (const { name, bytes } of wireRequests) {
    const { fault, exception } = await compareWithNode(reader, bytes);
    if (fault !== undefined) written.push(`${name}: ${fault}`);
    if (exception !== undefined) excepted.add(name);
  }
  const made: string[] = [];
  let accepted = 0;
  const readOne = async (): Promise<void> => {
    const { ours, fault } = await compareWithNode(reader, randomStream(random));
    accepted += ours.requests.length;
    if (fault !== undefined) made.push(fault);
  };
  for (let done = 0; done < count; done += sideBySide) {
    await Promise.all(Array.from({ length: sideBySide }, readOne));
    progress(`${done} of ${count} against node:http`);
  }
  const exceptions = `${excepted.size} that it refuses are on the list`;
  return [
    none(`node:http: disagreements in ${wireRequests.length} written cases`, written, exceptions),
    none(`node:http: disagreements in ${count} generated streams`, made, `${accepted} requests accepted`),
  ];
}

async function answersAgainstNode({ answers: count }: Size, random: Random, { progress }: ChaosRig): Promise<Figure[]> {
  const written: string[] = [];
  for (const text of wireAnswers) {
    for (const method of answeredMethods) {
      const { fault } = await compareAnswer(method, text);
      if (fault !== undefined) written.push(fault);
    }
  }
  const made: string[] = [];
  let accepted = 0;
  for (let done = 0; done < count; done += 1) {
    const { method, text } = randomAnswer(random);
    const { isTaken, fault } = await compareAnswer(method, text);
    if (isTaken) accepted += 1;
    const ofSplit = faultOfAnswerSplit(method, randomSplit(Buffer.from(text, 'latin1'), random));
    for (const one of [fault, ofSplit]) if (one !== undefined) made.push(one);
    if (done % aTurn === 0) progress(`${done} of ${count} answers against node:http`);
  }
  return [
    none(`node:http: disagreements in ${wireAnswers.length} written answers, to GET and to HEAD`, written),
    none(`node:http: disagreements in ${count} generated answers`, made, `${accepted} accepted`),
  ];
}

async function alone({ alone: count, timeLimitMs }: Size, random: Random, { progress }: ChaosRig): Promise<Figure[]> {
  const written: string[] = [];
  let splits = 0;
  for (const { name, bytes } of wireRequests) {
    const whole = readAsWeDo([bytes]);
    for (const segments of splitsOf(bytes)) {
      splits += 1;
      const fault = faultOfSplit(whole, segments);
      if (fault !== undefined) written.push(`${name}: ${fault}`);
    }
  }
  const made: string[] = [];
  const endsAtMs = performance.now() + timeLimitMs;
  let accepted = 0;
  let done = 0;
  while (done < count && performance.now() < endsAtMs) {
    for (const turnEnds = done + aTurn; done < turnEnds; done += 1) {
      const bytes = randomStream(random);
      const whole = readAsWeDo([bytes]);
      accepted += whole.requests.length;
      const fault = faultOfSplit(whole, randomSplit(bytes, random));
      if (fault !== undefined) made.push(fault);
    }
    progress(`${done} of ${count} by ourselves`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return [
    none(
      `written cases that are read in another way where they are cut, of ${wireRequests.length}`,
      written,
      `${splits} ways`,
    ),
    {
      name: 'generated streams read in one piece and in several',
      bar: `${count}, or what ${timeLimitMs / 1_000} s allow`,
      measured: `${done} (${accepted} requests accepted)`,
      met: done >= count,
    },
    none('generated streams that are read in another way where they are cut, or end the reader', made),
  ];
}

interface Proxy {
  readonly name: string;
  readonly port: number;
}

async function throughProxies(size: Size, random: Random, { t, progress }: ChaosRig): Promise<Figure[]> {
  const upstream = await startUpstream(t);
  const streams = [
    ...wireRequests,
    ...Array.from({ length: size.throughProxies }, () => ({ name: 'a generated stream', bytes: randomStream(random) })),
  ];
  const figures: Figure[] = [];
  for (const { name, port } of await startProxies(t, upstream)) {
    const faults: string[] = [];
    const left = [...streams].reverse();
    let accepted = 0;
    let passed = 0;
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const ours = readAsWeDo([next.bytes]);
        const theirs = await passedOn(port, upstream, next.bytes);
        accepted += ours.requests.length;
        passed += theirs.length;
        const difference = differenceBehind(ours, theirs, next.bytes);
        if (difference !== undefined)
          faults.push(`${next.name}: ${difference}: ${shown(next.bytes.toString('latin1'))}`);
        progress(`${name}: ${left.length} are left`);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    const counted = `${accepted} requests accepted here, ${passed} passed on`;
    const figure = none(`${name}: disagreements in ${streams.length} streams`, faults, counted);
    figures.push(passed === 0 ? { ...figure, met: false, broken: true } : figure);
  }
  return figures;
}

/** Small enough that what is not whole does not hold up the run. */
const nginxPatience =
  'client_header_timeout 300ms; client_body_timeout 300ms; keepalive_timeout 100ms; lingering_timeout 100ms;';
const haproxyPatience = [
  'timeout connect 1s',
  'timeout client 300ms',
  'timeout server 5s',
  'timeout http-request 300ms',
];

async function startProxies(t: TestContext, { port }: Upstream): Promise<Proxy[]> {
  const nginx = await startNginx(t, {
    http: `access_log off; underscores_in_headers on; ignore_invalid_headers off;`,
    server: `${nginxPatience} merge_slashes off;
      location / {
        proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1; proxy_next_upstream off;
        proxy_set_header Host $http_host; proxy_set_header ${originHeader} $remote_port;
      }`,
  });
  const haproxy = async (name: string, frontend: readonly string[]): Promise<Proxy> => {
    const server = await startHaproxy(t, {
      port,
      defaults: [...haproxyPatience, 'timeout http-keep-alive 100ms', 'option http-keep-alive', 'retries 0'],
      frontend: [`http-request set-header ${originHeader} %[src_port]`, ...frontend],
    });
    return { name, port: server.port };
  };
  return [
    { name: 'nginx', port: nginx.port },
    await haproxy('HAProxy', []),
    await haproxy('HAProxy, accepting invalid requests', ['option accept-invalid-http-request']),
  ];
}
