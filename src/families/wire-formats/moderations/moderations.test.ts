import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Asked, Unfit } from '../../../core/translation.ts';
import {
  fromPlain,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  writeJson,
} from '../../../lib/json/json-text.ts';
import mistral, { mistralModerations } from '../../mistral.ts';
import { objectIn } from '../reading.ts';
import { createLabelJudge, labelOptions } from './label-moderations.ts';
import {
  azureCategories,
  type Categories,
  foldLabel,
  harmlessLabels,
  labelCategories,
  llamaGuard1Categories,
  llamaGuard2Categories,
  llamaGuard3Categories,
  mistralCategories,
  openaiCategories,
} from './moderation-categories.ts';
import { translateModerations } from './moderations.ts';

const read = (text: string): Json => parseJson(Buffer.from(text));

function asked(body: object, options: Readonly<Record<string, string>> = {}): Asked {
  const parsed = fromPlain(body);
  return new Asked({
    body: isJsonObject(parsed) ? parsed : {},
    model: 'their-model',
    publicModel: 'm',
    shape: undefined,
    tokenIds: 'decode',
    options,
    id: 'ID',
    nowS: 0,
    unsupported: undefined,
    upstreamId: 'up',
  });
}

async function replyOfMistral(answer: string, options?: Readonly<Record<string, string>>): Promise<JsonObject> {
  const { read: readReply } = await mistralModerations.ask(asked({ input: 'x' }, options));
  const { body } = await readReply([{ body: read(answer), headers: [] }]);
  return objectIn(JSON.parse(writeJson(body).toString()), 'the reply');
}

test('of several categories mapped to one, the highest score is used with its digits, and any of them can flag', async () => {
  const { read: readReply } = await mistralModerations.ask(asked({ input: 'x' }));
  const { body } = await readReply([
    {
      body: read(
        '{"results":[{"categories":{"dangerous":true,"criminal":false,"pii":true},"category_scores":{"dangerous":0.20,"criminal":3.10e-1,"pii":0.93}}]}',
      ),
      headers: [],
    },
  ]);
  const text = writeJson(body).toString();
  assert.match(text, /"flagged":true/);
  assert.match(text, /"illicit":true/);
  assert.match(text, /"illicit":3\.10e-1,/);
  assert.match(text, /"original":\{"categories":\{"dangerous":true,"criminal":false,"pii":true\},"category_scores":\{/);
});

test('a category that OpenAI does not have flags a text too, unless flagged_by is mapped', async () => {
  const answer = '{"results":[{"categories":{"pii":true,"sexual":false,"of_tomorrow":true},"category_scores":{}}]}';
  const flagged = async (options?: Readonly<Record<string, string>>) =>
    JSON.stringify((await replyOfMistral(answer, options)).results).includes('"flagged":true');
  assert.equal(await flagged(), true);
  assert.equal(await flagged({ flagged_by: 'any' }), true);
  assert.equal(await flagged({ flagged_by: 'mapped' }), false);
  assert.deepEqual(mistral.options?.flagged_by?.values, ['any', 'mapped']);
});

test('refuses verdicts and scores of the wrong type', async () => {
  for (const result of [
    '{}',
    'null',
    '[]',
    '{"categories":{}}',
    '{"categories":{"sexual":null}}',
    '{"categories":{"sexual":0}}',
    '{"categories":{"sexual":true},"category_scores":{"sexual":"0.5"}}',
    '{"categories":{"sexual":true},"category_scores":{"sexual":null}}',
    '{"categories":{"sexual":true},"category_scores":{"sexual":1e999}}',
    '{"categories":{"sexual":true},"category_scores":{"sexual":1.01}}',
    '{"categories":{"sexual":true},"category_scores":{"sexual":-0.01}}',
    '{"categories":{"sexual":true},"category_scores":[]}',
  ]) {
    await assert.rejects(replyOfMistral(`{"results":[${result}]}`), Unfit, result);
  }
  await assert.rejects(replyOfMistral('{"results":[]}'), Unfit);
});

test('with flagged_by: mapped, a response without any mapped category is refused', async () => {
  const answer = '{"results":[{"categories":{"pii":true,"of_tomorrow":false}}]}';
  await assert.rejects(replyOfMistral(answer, { flagged_by: 'mapped' }), Unfit);
});

test('names such as "constructor" are ordinary names of unknown categories', async () => {
  const reply = await replyOfMistral(
    '{"results":[{"categories":{"__proto__":false,"constructor":true,"toString":false}}]}',
  );
  assert.match(JSON.stringify(reply), /"flagged":true,"categories":\{"harassment":false/);
});

test('a moderation response keeps the usage that the upstream reports', async () => {
  const wireFormat = translateModerations({
    own: [],
    write: () => ({ body: {} }),
    read: ({ body }, { texts }) => ({
      judgements: texts.map(() => ({ findings: [], original: null })),
      usage: objectIn(body, 'usage'),
    }),
  });
  const answer = { body: read('{"prompt_tokens":2,"total_tokens":3,"x":1.0}'), headers: [] };
  const made = await (await wireFormat.ask(asked({ input: ['a', 'b'] }))).read([answer]);
  assert.match(writeJson(made.body).toString(), /"usage":\{"prompt_tokens":2,"total_tokens":3,"x":1\.0\}\}$/);
  assert.deepEqual(made.usage, { promptTokens: 2, completionTokens: null, totalTokens: 3, searchUnits: null });
});

const judged = (labels: object[], options: Readonly<Record<string, string>> = {}) =>
  createLabelJudge({ threshold: '0.5', ...options })(fromPlain(labels), 7).findings.map(
    ({ categories, isFlagged }) => ({
      categories,
      isFlagged,
    }),
  );

test('labels of an upstream are mapped by the table, in any spelling', () => {
  assert.deepEqual(judged([{ label: 'Self_Harm', score: 0.5 }]), [{ categories: ['self-harm'], isFlagged: true }]);
  assert.deepEqual(judged([{ label: 'self-harm/intent', score: 0.4 }]), [
    { categories: ['self-harm/intent'], isFlagged: false },
  ]);
  assert.deepEqual(judged([{ label: 'INJECTION', score: 0.9 }]), [{ categories: [], isFlagged: true }]);
  assert.deepEqual(judged([{ label: 'NOT-HATE', score: 0.99 }]), []);
});

test('labels of an upstream can be mapped by the options, also to several categories', () => {
  const options = { labels: 'S=safe,LABEL_1=hate,LABEL_1=violence,toxic=flagged,+=sexual' };
  assert.deepEqual(judged([{ label: 'S', score: 1 }], options), []);
  assert.deepEqual(judged([{ label: 'LABEL_1', score: 1 }], options), [
    { categories: ['hate', 'violence'], isFlagged: true },
  ]);
  assert.deepEqual(judged([{ label: 'toxic', score: 1 }], options), [{ categories: [], isFlagged: true }]);
  assert.deepEqual(judged([{ label: '+', score: 1 }], options), [{ categories: ['sexual'], isFlagged: true }]);
  assert.throws(() => judged([{ label: '-', score: 1 }], options), Unfit);
});

const ofScores = (scores: Readonly<Record<string, number>>) =>
  judged(Object.entries(scores).map(([label, score]) => ({ label, score })));

test('an unknown label of an upstream is refused if its score could decide the result', () => {
  assert.deepEqual(ofScores({ toxic: 0.4, LABEL_0: 0.39 }), [{ categories: ['harassment'], isFlagged: false }]);
  assert.deepEqual(ofScores({ LABEL_0: 0.1, safe: 0.9 }), []);
  for (const scores of [
    { LABEL_0: 0.5 },
    { LABEL_0: 0.49 },
    { LABEL_0: 0 },
    { LABEL_0: 0.45, LABEL_1: 0.35, LABEL_2: 0.2 },
    { toxic: 0.3, LABEL_0: 0.4 },
    { toxic: 0.3, LABEL_0: 0.3 },
    { safe: 0.9, LABEL_0: 0.6 },
  ]) {
    assert.throws(() => ofScores(scores), Unfit, JSON.stringify(scores));
  }
  assert.throws(() => judged([]), Unfit);
  assert.throws(() => judged([{ label: 1, score: 0.5 }]), Unfit);
  assert.throws(() => judged([{ label: 'toxic', score: '1' }]), Unfit);
  assert.throws(() => ofScores({ toxic: 1.5 }), Unfit);
  assert.throws(() => ofScores({ safe: -3.2 }), Unfit);
  assert.throws(() => judged([{ label: 'toxic' }]), Unfit);
});

test('an unknown label of an upstream is reported by its position only, never by name', () => {
  for (const label of ['sk-upstream-0123456789', 'my secret text', 'LABEL_1']) {
    assert.throws(
      () => ofScores({ safe: 0.1, [label]: 0.9 }),
      (error) =>
        error instanceof Unfit &&
        /^label 1 of input 7 is unknown here; /.test(error.message) &&
        !error.message.includes(label),
    );
  }
});

test('the options labels and threshold accept only valid mappings and thresholds', () => {
  const { labels, threshold } = labelOptions;
  for (const good of ['toxic=harassment', 'LABEL_1=hate/threatening,severe toxic=flagged,毒=safe']) {
    assert.match(good, labels.pattern ?? /^$/);
  }
  for (const bad of ['', 'toxic', 'toxic=', '=hate', 'toxic=nothing', 'toxic=hate,', 'a=hate;b=hate', 'a=b=hate']) {
    assert.doesNotMatch(bad, labels.pattern ?? /^/);
  }
  for (const good of ['0.5', '.5', '0.05', '1', '1.0']) assert.match(good, threshold.pattern ?? /^$/);
  for (const bad of ['0', '0.0', '1.1', '2', '-0.5', '50%', '']) assert.doesNotMatch(bad, threshold.pattern ?? /^/);
});

test('the keys of the label table are in normalised form', () => {
  for (const label of [...Object.keys(labelCategories), ...harmlessLabels]) assert.equal(foldLabel(label), label);
  for (const label of harmlessLabels) assert.ok(!Object.hasOwn(labelCategories, label), label);
  assert.equal(new Set(openaiCategories).size, 13);
});

test('docs/reference/moderations.md has every row of the tables, and no other', () => {
  const page = readFileSync(new URL('../../../../docs/reference/moderations.md', import.meta.url), 'utf8');
  const makers: readonly (readonly [title: string, table: Categories])[] = [
    ['Mistral', mistralCategories],
    ['Azure AI Content Safety', azureCategories],
    ['Llama Guard 3 and 4', llamaGuard3Categories],
    ['Llama Guard 2', llamaGuard2Categories],
    ['Llama Guard 1', llamaGuard1Categories],
    ['Classifiers', labelCategories],
  ];
  const sections = page.split(/^### /m).slice(1);
  assert.deepEqual(
    sections.map((section) => section.split('\n')[0]),
    makers.map(([title]) => title),
  );
  for (const [index, [title, table]] of makers.entries()) {
    const rows = [...(sections[index] ?? '').matchAll(/^\| `([^`]+)`.* \| ([^|]+) \|$/gm)].map(
      ([, name, categories]) => `${name}: ${categories}`,
    );
    const wanted = Object.entries(table).map(
      ([name, categories]) => `${name}: ${categories.map((one) => `\`${one}\``).join(', ') || 'none'}`,
    );
    assert.deepEqual(rows, wanted, title);
  }
  for (const label of harmlessLabels) assert.ok(page.includes(`\`${label}\``), label);
});
