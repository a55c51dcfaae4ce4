import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, digest, toBody } from '../../../test/support/local-models.ts';
import { moderateByWordlist } from './wordlist.ts';

interface Result {
  readonly flagged: boolean;
  readonly categories: Readonly<Record<string, boolean>>;
  readonly category_scores: Readonly<Record<string, number>>;
  readonly category_applied_input_types: Readonly<Record<string, readonly string[]>>;
  readonly postern_rules: readonly string[];
}

interface Moderated {
  readonly id: string;
  readonly model: string;
  readonly results: readonly Result[];
}

async function moderate(input: unknown): Promise<readonly Result[]> {
  const { status, json, text } = await ask<Moderated>(moderateByWordlist, { model: 'local/wordlist', input });
  assert.equal(status, 200, text.slice(0, 200));
  return json.results;
}

async function judge(text: string): Promise<Result> {
  const [result] = await moderate(text);
  assert.ok(result !== undefined);
  return result;
}

const openaiCategories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/instructions',
  'self-harm/intent',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
];

test('moderation responses have the OpenAI shape, with all 13 categories in each result', async () => {
  const { json } = await ask<Moderated>(moderateByWordlist, { model: 'my-name', input: 'hello' });
  assert.deepEqual(Object.keys(json), ['id', 'model', 'results']);
  assert.match(json.id, /^modr-[0-9a-f]{24}$/);
  assert.equal(json.model, 'my-name');
  const [result] = json.results;
  assert.ok(result !== undefined);
  assert.equal(result.flagged, false);
  for (const part of [result.categories, result.category_scores, result.category_applied_input_types]) {
    assert.deepEqual(Object.keys(part).sort(), openaiCategories);
  }
  assert.ok(Object.values(result.categories).every((value) => value === false));
  assert.ok(Object.values(result.category_scores).every((value) => value === 0));
  assert.ok(Object.values(result.category_applied_input_types).every((types) => types.join() === 'text'));
  assert.deepEqual(result.postern_rules, []);
});

const flagged: readonly (readonly [text: string, ...categories: string[]])[] = [
  ['You are such a worthless idiot.', 'harassment'],
  ["you're pathetic, nobody likes you", 'harassment'],
  ["I'm going to kill you", 'harassment/threatening', 'violence'],
  ['We will hurt them.', 'harassment/threatening'],
  ["I'll shoot you", 'harassment/threatening'],
  ['I know where you live. Watch your back!', 'harassment/threatening'],
  ['I hate all immigrants', 'hate'],
  ['Muslims are nothing but vermin', 'hate'],
  ['exterminate all the jews', 'hate/threatening', 'hate'],
  ['How do I make meth at home?', 'illicit'],
  ['how can I shoplift without being seen', 'illicit'],
  ['How to make a pipe bomb', 'illicit/violent', 'illicit'],
  ['I want to hire a hitman', 'illicit/violent'],
  ['I want to kill myself', 'self-harm', 'self-harm/intent'],
  ["I don't want to live", 'self-harm/intent'],
  ['what is the most painless way to die', 'self-harm/instructions'],
  ['watch hardcore sex videos', 'sexual'],
  ['they stabbed him, blood was everywhere', 'violence', 'violence/graphic'],
  ['a severed head', 'violence/graphic'],
];

const harmless = [
  'Please kill the process with PID 4711 and restart the server.',
  "I'm dying of laughter, this joke kills me every time.",
  'Cut the onions and beat the eggs.',
  "I'll shoot you an email tomorrow.",
  "I'm going to beat you at chess!",
  'How do I make a bath bomb?',
  'Penistone and Scunthorpe are towns in England; Essex is a county.',
  'The query should be executed before the transaction ends.',
  'You are not stupid.',
  'I would never hurt you.',
  "I don't want to live in a big city.",
  'I want to cut myself a slice of cake.',
  'I do not want to kill myself.',
  'Policies that hurt women and children are discussed in parliament.',
  'Suicide prevention: call the hotline.',
  'The sex education curriculum for teenagers was revised.',
  'Photo shoot: I shot the bride in front of the church.',
  'Create a phishing awareness training for our staff.',
  'How do I break into a new industry?',
];

test('flags example texts for the rules, in the right category', async () => {
  for (const [text, ...expected] of flagged) {
    const { flagged: isFlagged, categories, category_scores: scores } = await judge(text);
    assert.equal(isFlagged, true, text);
    for (const category of expected) {
      assert.equal(categories[category], true, `${category}: ${text}`);
      assert.ok((scores[category] ?? 0) >= 0.5);
    }
  }
});

test('does not flag everyday sentences that contain some words of the rules', async () => {
  for (const text of harmless) {
    const { flagged: isFlagged, postern_rules: rules } = await judge(text);
    assert.equal(isFlagged, false, `${rules.join()}: ${text}`);
  }
});

test('flags a word whatever its case, width, punctuation or invisible characters', async () => {
  for (const text of [
    'I WILL KILL YOU',
    'ｉ ｗｉｌｌ ｋｉｌｌ ｙｏｕ',
    'i — will, kill... you',
    'I will k\u200bi\u00adll you',
  ]) {
    assert.deepEqual((await judge(text)).postern_rules, ['threat'], text);
  }
});

test('combines rule weights as independent probabilities', async () => {
  const { category_scores: scores, postern_rules: rules } = await judge('Go to hell, everybody hates you');
  assert.deepEqual(rules, ['nobody-wants-you', 'curse-at-you']);
  assert.equal(scores.harassment, 0.8);
});

test('counts a rule once in a text, however often it matches', async () => {
  const once = await judge('shut up');
  assert.deepEqual(await judge('shut up '.repeat(1_000)), once);
  assert.equal(once.flagged, false);
  assert.equal(once.category_scores.harassment, 0.35);
});

test('gives one result per text of a list, and one for all parts of a multimodal message', async () => {
  const threat = 'I will kill you';
  assert.equal((await moderate(threat)).length, 1);
  assert.deepEqual(
    (await moderate(['fine', threat, ''])).map((result) => result.flagged),
    [false, true, false],
  );
  const parts = await moderate([
    { type: 'text', text: 'fine' },
    { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    { type: 'text', text: threat },
  ]);
  assert.deepEqual(parts, await moderate(threat));
  assert.deepEqual(await moderate([]), []);
});

test('a rule matches words far apart in a long text, even across the pieces in which it is read', async () => {
  for (let padding = 8_150; padding < 8_215; padding += 1) {
    const text = `${'x'.repeat(4_000)} ${'y '.repeat((padding - 4_000) / 2)}i will kill you ${'z '.repeat(4_000)}`;
    assert.deepEqual((await judge(text)).postern_rules, ['threat'], String(padding));
  }
});

test('refuses invalid input with the reason', async () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
  const rows: [fields: object, param: string, message: RegExp][] = [
    [{}, 'input', /missing/],
    [{ input: [image] }, 'input', /images only.*text only/],
    [{ input: ['a', image] }, 'input[1]', /reads text only/],
    [{ input: [{ type: 'audio' }] }, 'input[0]', /reads text only/],
    [{ input: 5 }, 'input', /not a number/],
    [{ input: Array.from({ length: 2049 }, () => '') }, 'input', /at most 2048/],
  ];
  for (const [fields, param, message] of rows) {
    const { status, json } = await ask(moderateByWordlist, fields);
    assert.equal(status, 400);
    assert.equal(json.error.type, 'invalid_request_error');
    assert.equal(json.error.param, param);
    assert.match(json.error.message, message);
  }
});

test('gives identical bytes for identical requests, on every machine', async () => {
  const fields = {
    model: 'local/wordlist',
    input: ['Go to hell, everybody hates you', 'How to make a pipe bomb', 'Good day'],
  };
  assert.equal(digest((await ask<Moderated>(moderateByWordlist, fields)).text), 'f62483673232baf9');
});

test('moderates texts of any kind and length', async () => {
  for (const text of [
    'x'.repeat(1_000_000),
    '\ud800',
    '🎉'.repeat(10_000),
    'how to make a '.repeat(20_000),
    'שלום '.repeat(10_000),
    '\0',
  ]) {
    assert.equal((await judge(text)).flagged, false);
  }
});

test('stops when the client disconnects', async () => {
  const leaving = new AbortController();
  const answer = moderateByWordlist(toBody({ input: 'some words '.repeat(500_000) }), leaving.signal);
  setImmediate(() => leaving.abort());
  await assert.rejects(async () => answer, { name: 'AbortError' });
});
