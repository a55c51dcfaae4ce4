/** Random requests that try to send an upstream a model that was not checked: on every path, in JSON and in forms. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelFields } from '../../src/core/model-fields.ts';
import { operationRows } from '../../src/core/operations/index.ts';
import type { Route } from '../../src/core/route.ts';
import { routes } from '../../src/routes/index.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream, type UpstreamRequest } from '../support/upstreams/fake-upstream.ts';

/** `POSTERN_FUZZ_RUNS=42000 node --test test/conformance/other-models.fuzz.test.ts`; of a failure, to be seen again, `POSTERN_FUZZ_SEED`. */
const runs = Number(process.env.POSTERN_FUZZ_RUNS ?? 3_000);
const seed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
const sideBySide = 8;

type Chance = (below: number) => number;

function createChance(start: number): Chance {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const oneOf = <T>(chance: Chance, list: readonly [T, ...T[]] | readonly T[]): T => {
  const found = list[chance(list.length)];
  if (found === undefined) throw new TypeError('an empty list');
  return found;
};

/** Words of names that an upstream must not receive; no content of a request contains them. */
const forbidden = /dear|nobody|faraway|public-/i;

const familiesOf: Readonly<Partial<Record<Route['label'], string>>> = {
  anthropic: 'anthropic',
  gemini: 'gemini',
  interactions: 'gemini',
  cohere: 'cohere',
  cohere_v1: 'cohere',
};

/** Of those that pass from a client API: all that speak its format. */
const familyOf = ({ label, entry }: Route): string => familiesOf[entry?.passing?.route.label ?? label] ?? 'openai';

const modelsOf = (family: string) => ({
  judged: `public-judged-${family}`,
  allowed: `public-allowed-${family}`,
  dear: `public-dear-${family}`,
});

const named = ['dear', 'allowed', 'judged', 'nobody/knows', 'upstream-dear', 'public-faraway'] as const;

function nameFor(chance: Chance, family: string): string {
  const name = oneOf(chance, named);
  const models: Readonly<Record<string, string>> = modelsOf(family);
  return models[name] ?? name;
}

/** A name as JSON may have it: plain, in other letters, with escapes, with what folds to a letter. */
function spelled(chance: Chance, name: string): string {
  const letters = [...name];
  const at = chance(letters.length);
  const letter = letters[at] ?? '';
  switch (chance(6)) {
    case 0:
      return JSON.stringify(chance(2) === 0 ? name.toUpperCase() : name[0]?.toUpperCase() + name.slice(1));
    case 1:
      letters[at] = `\\u00${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
      return `"${letters.join('')}"`;
    case 2:
      return JSON.stringify(name.replace('s', '\u017f').replace('k', '\u212a'));
    default:
      return JSON.stringify(name);
  }
}

function valueFor(chance: Chance, family: string): string {
  const name = () => spelled(chance, nameFor(chance, family)).replace(/[A-Z\u017f\u212a]/g, 'd');
  switch (chance(9)) {
    case 0:
      return `[${name()},${name()}]`;
    case 1:
      return `[{"model":${name()}}]`;
    case 2:
      return `{"model":${name()}}`;
    case 3:
      return `[{${name()}:[${name()}]}]`;
    case 4:
      return `[{"model":${name()},"model":${name()}}]`;
    case 5:
      return `[[${name()}]]`;
    default:
      return name();
  }
}

const inside = ['model', 'models', 'fallbacks', 'modelName', 'model_id', 'allowed_models', 'fallback_models'];
const wrappers = ['a', 'gateway', 'config', 'extra_body', 'routingConfig', 'manualMode'];

function wrapped(chance: Chance, family: string): string {
  let value = `{"type":"x",${spelled(chance, oneOf(chance, inside))}:${valueFor(chance, family)}}`;
  for (let depth = chance(4); depth > 0; depth -= 1) {
    value = chance(2) === 0 ? `[${value}]` : `{"${oneOf(chance, wrappers)}":${value}}`;
  }
  return chance(3) === 0 ? `[1,${value}]` : value;
}

function fieldFor(chance: Chance, route: Route, family: string): string {
  const beside = route.own === undefined ? [] : [{ name: 'model' }, { name: 'Model' }];
  const { name, isContainer = false } = oneOf<{ readonly name: string; readonly isContainer?: boolean }>(chance, [
    ...modelFields,
    ...beside,
  ]);
  return `${spelled(chance, name)}:${isContainer ? wrapped(chance, family) : valueFor(chance, family)}`;
}

/** Of the kinds that a route wants. */
function valueOfKind(name: string, kinds: string): unknown {
  if (name === 'messages') return [{ role: 'user', content: 'x' }];
  if (name === 'model') return undefined;
  const [kind = ''] = kinds.split('|').map((one) => one.trim());
  const values: Readonly<Record<string, unknown>> = { string: 'x', number: 8, boolean: true, object: { text: 'x' } };
  if (kind === 'array') return [];
  return kind.endsWith('[]') ? [values[kind.slice(0, -2)] ?? 'x'] : values[kind];
}

function baseOf(route: Route): Readonly<Record<string, unknown>> {
  const needed = Object.entries(route.required).map(([name, kinds]) => [name, valueOfKind(name, kinds)]);
  return route.entry === undefined
    ? { ...Object.fromEntries(needed), ...(Object.hasOwn(operationRows, route.operation) && route.row.sample.body) }
    : Object.fromEntries(needed);
}

function bodyFor(chance: Chance, route: Route, family: string): string {
  const { judged } = modelsOf(family);
  const base = Object.entries(baseOf(route)).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  if (!route.path.includes('{model}') && route.own?.model.from !== 'nowhere') base.push(`"model":"${judged}"`);
  for (let count = 1 + chance(2); count > 0; count -= 1) {
    base.splice(chance(base.length + 1), 0, fieldFor(chance, route, family));
  }
  return `{${base.join(',')}}`;
}

function formFor(chance: Chance, family: string): string {
  const { judged } = modelsOf(family);
  const { name, isContainer } = oneOf(chance, modelFields);
  const inner = isContainer
    ? `${oneOf(chance, ['', '[0]', '[a]'])}[${oneOf(chance, inside)}]`
    : oneOf(chance, ['', '[]']);
  const said = `${name}${inner}`;
  const parts = [
    ['model', judged],
    ['prompt', 'x'],
    [chance(3) === 0 ? said.toUpperCase() : said, nameFor(chance, family)],
  ];
  if (chance(2) === 0) parts.reverse();
  const texts = parts.map(
    ([part, value]) => `--b\r\nContent-Disposition: form-data; name="${part}"\r\n\r\n${value}\r\n`,
  );
  const file = (part: string) =>
    `--b\r\nContent-Disposition: form-data; name="${part}"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nx\r\n`;
  return `${texts.join('')}${file('file')}${file('image')}--b--\r\n`;
}

/** Every text of a request after JSON decoding, and everything else unchanged. */
function textsIn({ path, rawHead, body }: UpstreamRequest): string[] {
  const text = body.toString();
  const strings = [...text.matchAll(/"(?:[^"\\]|\\.)*"/gs)].map(([quoted]) => {
    try {
      return String(JSON.parse(quoted));
    } catch {
      return quoted;
    }
  });
  return [path, rawHead.toString('latin1'), text, ...strings];
}

test(`no unauthorised model reaches an upstream (seed ${seed}, ${runs} requests)`, async (t) => {
  const up = await startFakeUpstream((_request, reply) =>
    reply.json(200, { object: 'x', choices: [], results: [{ index: 0, relevance_score: 1 }] }),
  );
  t.after(() => up.close());
  const operations: Readonly<Record<string, readonly string[]>> = {
    openai: [
      ...['chat', 'completions', 'responses', 'edits', 'embeddings', 'rerank', 'moderations', 'images', 'speech'],
      ...['image_edits', 'image_variations', 'transcriptions', 'translations', 'own'],
    ],
    anthropic: ['messages', 'count_tokens'],
    gemini: ['generate', 'embeddings'],
    cohere: ['chat', 'embeddings', 'rerank'],
  };
  const families = Object.keys(operations);
  const rig = await startRig(t, {
    upstreams: [...families.map((id) => ({ id, family: id, base_url: up.url, api_key: `sk-${id}-0123456789` }))].concat(
      {
        id: 'away',
        family: 'openai',
        base_url: up.url,
        api_key: 'sk-away-0123456789',
      },
    ),
    models: [
      ...families.flatMap((upstream) =>
        Object.entries(modelsOf(upstream)).map(([model, id]) => ({
          id,
          operations: operations[upstream],
          targets: [{ upstream, model: `upstream-${model}` }],
        })),
      ),
      { id: 'public-faraway', operations: operations.openai, targets: [{ upstream: 'away', model: 'faraway' }] },
    ],
    routes: [
      { path: '/v1/parse', form: true },
      { path: '/v1/fixed', model: { id: 'public-judged-openai' }, form: true },
      { path: '/v1/of/{model}/scan' },
      { path: '/v1/named', model: { field: 'parser' } },
    ],
    keys: [{ id: 'test', secret: testKey, models: ['public-judged-*', 'public-allowed-*', 'public-faraway'] }],
  });
  const own = ['/v1/parse', '/v1/fixed', '/v1/of/{model}/scan'].map((path): Route => {
    const { own: _none, ...like } = routes[0] ?? assert.fail();
    const from = path === '/v1/fixed' ? { from: 'nowhere' as const, id: 'x' } : { from: 'path' as const };
    const offer = { path };
    const facts = { path, offer, label: 'own', upstreams: undefined, takesForms: true, query: undefined };
    const most = { output: undefined, units: undefined };
    const customRoute = { ...facts, method: 'POST' as const, model: from, timeouts: {}, usage: undefined, most };
    return { ...like, path, aliases: [], required: {}, operation: 'own', own: customRoute };
  });
  const asked = [...routes, ...own, ...own];
  const chance = createChance(seed);
  const counts = { passed: 0, refused: 0 };
  const reached = new Set<string>();

  async function ask(): Promise<void> {
    const route = oneOf(chance, asked);
    const family = familyOf(route);
    const path = route.path.replace(/\{model[^}]*\}/, modelsOf(family).judged);
    const isForm = route.form !== undefined || (route.own !== undefined && chance(3) === 0);
    const sent = isForm && path !== '/v1/of' ? formFor(chance, family) : bodyFor(chance, route, family);
    const type = sent.startsWith('--') ? 'multipart/form-data; boundary=b' : 'application/json';
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${testKey}`],
      ['Content-Type', type],
    ];
    const { status } = await rig.post(path, sent, { headers });
    assert.notEqual(status, 500, `${path} ${sent}`);
    if (status < 300) {
      counts.passed += 1;
      reached.add(route.path);
    } else counts.refused += 1;
  }

  let left = runs;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, worker));
  for (const request of up.requests) {
    const found = textsIn(request).find((text) => forbidden.test(text));
    assert.equal(found, undefined, `${request.path} ${request.body}`);
  }
  // Of a fuzzer whose requests all fail nothing is learned.
  assert.ok(counts.passed > runs / 50 && counts.refused > runs / 4, JSON.stringify(counts));
  assert.ok(reached.size >= 12, [...reached].join(' '));
});
