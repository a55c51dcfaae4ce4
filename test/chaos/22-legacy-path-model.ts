/** Promise 22: the model in the legacy path is an exact look-up or refused, and never another upstream path. */

import { z } from 'zod';
import { send } from '../support/clients/raw-client.ts';
import { upstreamCredential } from '../support/gateways/pair.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { definePromise } from './promise.ts';
import { pick, type Random } from './support/hostile/request-draft.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';

const counts = { long: 20_000, short: 2_500 } as const;
const clients = 16;

/** Some would be another path, a query or a directory upstream, were they taken for more than a name. */
const nativeIds = [
  'm',
  'org/m',
  'a b',
  'é',
  '%2e%2e',
  'a%2fb',
  'embeddings',
  'm/embeddings',
  '...',
  '@',
  'http:',
  ';x',
] as const;
const liftedIds = ['lifted', 'org/lifted', 'completions', '%00'] as const;
/** There under these names, but not to be reached by this path. */
const unreachableIds = ['..', '.', 'a/../m', '/m', 'm/', 'a?b', 'a#b', 'a\\b', 'org//m', 'a*b'] as const;
const hiddenIds = ['hidden'] as const;

const pathPrefixes = ['/v1/engines/', '/engines/'] as const;
const pathSuffix = '/embeddings';
/** Beneath the same prefix, and no embeddings either: the list of models, and text completion, which wants a prompt. */
const completionsSuffix = '/completions';
const otherPaths = ['/v1/engines', '/engines/', '/v1/engines/?org/embeddings', '/engines/m/completions'] as const;

const morsels = [
  'm',
  ...nativeIds.map(encodeURIComponent),
  ...liftedIds,
  ...unreachableIds,
  ...hiddenIds,
  'org',
  'n-',
  'n-x',
  '/',
  '//',
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '%2f',
  '%2F',
  '%252f',
  '%252e%252e',
  '%5c',
  '\\',
  '%00',
  '%2500',
  '%0d%0a',
  '%0a',
  '%7f',
  '%c2%85',
  '%c0%ae',
  '%ff',
  '%',
  '%zz',
  '%u002e',
  '?',
  '%3f',
  '#',
  '%23',
  ';',
  '@',
  ':',
  '*',
  '%2a',
  ' ',
  '%20',
  '+',
  '\t',
  '\xe9',
  '%C3%A9',
  'embeddings',
  '/embeddings',
  '/embeddings/',
  '/../embeddings',
  '/../../completions',
  '..%2f..%2fcompletions',
  '?x=/embeddings',
  '#/embeddings',
  '%2fembeddings',
  'x'.repeat(300),
] as const;

/** What the upstream must see of it; undefined where that is nothing. */
interface Arrival {
  readonly path: string;
  readonly model: string | undefined;
}

const bodySchema = z.object({ input: z.string(), model: z.string().optional() });

export default definePromise({
  no: 22,
  title: 'model names in the paths of the engines routes',
  async run({ t, scale, seed, progress }) {
    const arrivals = new Map<string, Arrival>();
    const upstream = await startFakeUpstream((request, reply) => {
      const { input, model } = bodySchema.parse(JSON.parse(request.body.toString()));
      arrivals.set(input, { path: request.path, model });
      return reply.json(200, {});
    });
    t.after(() => upstream.close());
    const entry = { family: 'openai', base_url: `${upstream.url}/base`, api_key: upstreamCredential };
    const rig = await startRig(t, {
      upstreams: [
        { id: 'lifted', ...entry },
        { id: 'native', ...entry, legacy_engines: 'native' },
      ],
      models: [
        ...[...nativeIds, ...unreachableIds].filter((id) => !id.includes('*')).map((id) => toModel(id, 'native')),
        ...liftedIds.map((id) => toModel(id, 'lifted')),
        ...hiddenIds.map((id) => ({ ...toModel(id, 'native'), visible: false })),
        { ...toModel('n-*', 'native'), targets: [{ upstream: 'native', model: '*' }] },
      ],
    });

    const random = createRandom(seed);
    const targets = [...[...nativeIds, ...liftedIds, ...unreachableIds].flatMap(spellings), ...otherPaths];
    while (targets.length < counts[scale]) targets.push(madeUp(random));
    const wrongAnswers: string[] = [];
    const wrongArrivals: string[] = [];
    let served = 0;
    const left = targets.map((target, index) => ({ target, mark: `q${index}` }));
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const { target, mark } = next;
        const wanted = judge(target);
        const { status } = await send(rig.port, toBytes(target, mark));
        const arrival = arrivals.get(mark);
        if (wanted.status === 200) served += 1;
        if (status !== wanted.status) wrongAnswers.push(`${status}, not ${wanted.status}: ${target}`);
        if (arrival?.path !== wanted.arrival?.path || arrival?.model !== wanted.arrival?.model) {
          wrongArrivals.push(`${JSON.stringify(arrival)}, not ${JSON.stringify(wanted.arrival)}: ${target}`);
        }
        progress(`${left.length} paths are left`);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));

    return [
      none(`requests that arrived elsewhere, or should not have arrived, of ${targets.length}`, wrongArrivals),
      none('answers other than one exact look-up or a refusal', wrongAnswers),
      none(
        'malformed in the journal of the upstream',
        upstream.malformed.map(({ reason }) => reason),
      ),
      {
        name: 'paths that do name a model, so that there was a chance',
        bar: 'at least 40',
        measured: String(served),
        met: served >= 40,
        broken: served < 40,
      },
    ];
  },
});

function toModel(id: string, upstream: string): Record<string, unknown> {
  return { id, operations: ['embeddings'], space: 's', targets: [{ upstream, model: id }] };
}

/** Plain where a target can hold it, encoded, with plain slashes, and encoded throughout. */
function spellings(id: string): string[] {
  const encoded = encodeURIComponent(id);
  const all = [...Buffer.from(id)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  return [id, encoded, encoded.replaceAll('%2F', '/'), all].flatMap((name) =>
    pathPrefixes.map((prefix) => `${prefix}${Buffer.from(name).toString('latin1')}${pathSuffix}`),
  );
}

function madeUp(random: Random): string {
  const name = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(morsels, random)).join('');
  return `${pick(pathPrefixes, random)}${name}${random() < 0.9 ? pathSuffix : pick(['', '/', '/embeddings/', '/embeddings?x'], random)}`;
}

function toBytes(target: string, mark: string): Buffer {
  const body = `{"input":"${mark}"}`;
  const lines = [`POST ${target} HTTP/1.1`, 'Host: a', `x-api-key: ${testKey}`, `Content-Length: ${body.length}`];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
}

interface Judgement {
  readonly status: number;
  readonly arrival?: Arrival;
}

/** The contract's rules for a request target, parsed here independently of the gateway's own parser. */
function judge(written: string): Judgement {
  // White space, control characters and anything beyond ASCII are no part of a target.
  if (/[^\x21-\x7e]/.test(written)) return { status: 400 };
  const path = (written.split('?')[0] ?? '').replace(/\/$/, '');
  // The list of models is there to be got.
  if (pathPrefixes.some((start) => start === `${path}/`)) return { status: 405 };
  const prefix = pathPrefixes.find((start) => path.startsWith(start));
  const suffix = [pathSuffix, completionsSuffix].find((end) => path.endsWith(end));
  if (prefix === undefined || suffix === undefined) return { status: 404 };
  const name = decodeOnce(path.slice(prefix.length, -suffix.length));
  if (name === undefined || path.length <= prefix.length + suffix.length) return { status: 404 };
  if (/\p{Cc}|[?#\\]/u.test(name)) return { status: 404 };
  if (name.split('/').some((segment) => ['', '.', '..'].includes(segment))) return { status: 404 };
  if (suffix === completionsSuffix) return { status: 400 };

  const isOneOf = (ids: readonly string[]): boolean => ids.includes(name);
  if (isOneOf(liftedIds)) return { status: 200, arrival: { path: '/base/embeddings', model: name } };
  const upstreamName = isOneOf(nativeIds) ? name : caughtByPattern(name);
  if (upstreamName === undefined) return { status: 404 };
  return {
    status: 200,
    arrival: { path: `/base/engines/${encodeURIComponent(upstreamName)}/embeddings`, model: undefined },
  };
}

function decodeOnce(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** What stands behind `n-`, where that is a name in its own right. */
function caughtByPattern(name: string): string | undefined {
  const caught = /^n-([^*%]+)$/.exec(name)?.[1];
  return caught?.split('/').some((segment) => ['', '.', '..'].includes(segment)) ? undefined : caught;
}
