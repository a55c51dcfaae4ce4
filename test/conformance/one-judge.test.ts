/** One table of what is wrong with keys, upstreams, models and projects, in the same words wherever they are declared. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as keyForm from '../../console/src/pages/keys/key-values.ts';
import * as modelForm from '../../console/src/pages/models/model-document.ts';
import * as upstreamForm from '../../console/src/pages/upstreams/upstream-values.ts';
import type { KeyDocument } from '../../src/admin/contract.ts';
import { keys } from '../../src/cli/keys/keys.ts';
import { toPrintable } from '../../src/cli/output.ts';
import { resources } from '../../src/cli/resources/resources.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { operations } from '../../src/core/operations/index.ts';
import { UserFault } from '../../src/core/user-fault.ts';
import { families } from '../../src/families/index.ts';
import { openAdmin } from '../support/console/admin.ts';
import { commandConfiguration, setUpCommand } from '../support/gateways/command.ts';
import { createDirectory } from '../support/gateways/configuration.ts';

type Document = Readonly<Record<string, unknown>>;
type Found = readonly [path: string, message: string];

interface Row {
  /** The field that is wrong, and what is written there, beside what is right. */
  readonly written: Document;
  readonly path: string;
  readonly message: string;
  /** Of keys: the same on the command line. */
  readonly args?: readonly string[];
  /** The console cannot write it. */
  readonly notInForm?: true;
}

const configuration = { ...commandConfiguration, projects: [{ id: 'search' }] };
const address = 'an IP address or a CIDR range, such as 10.0.0.0/8 or ::1';
const date = 'a date such as 2027-01-31, or a time with its zone such as 2027-01-31T12:00:00Z';
const operation = `one of ${operations.join(', ')}`;
const modelNameWords = '1 to 256 visible characters, no space at either end';

const keyRows: readonly Row[] = [
  {
    written: { operations: ['embedings'] },
    path: 'operations[0]',
    message: `wanted: ${operation}; came: "embedings"; did you mean embeddings?`,
    args: ['--operations', 'embedings'],
  },
  {
    written: { models: ['*a*'] },
    path: 'models[0]',
    message: 'holds more than one *; a pattern has one',
    args: ['--models', '*a*'],
  },
  {
    written: { models: ['a\u0007'] },
    path: 'models[0]',
    message: `wanted: ${modelNameWords}; came: "a\\u0007"`,
    args: ['--models', 'a\u0007'],
  },
  {
    written: { addresses: ['::1', '10.0.0.0/33'] },
    path: 'addresses[1]',
    message: `wanted: ${address}; came: "10.0.0.0/33"`,
    args: ['--addresses', '::1,10.0.0.0/33'],
  },
  {
    written: { expires: 'soon' },
    path: 'expires',
    message: `wanted: ${date}; came: "soon"`,
    args: ['--expires', 'soon'],
    notInForm: true,
  },
  {
    written: { expires: '2027-02-30' },
    path: 'expires',
    message: `wanted: ${date}; came: "2027-02-30"`,
    args: ['--expires', '2027-02-30'],
  },
  {
    written: { project: 'serch' },
    path: 'project',
    message: 'unknown project "serch"; did you mean search?',
    args: ['--project', 'serch'],
  },
  {
    written: { project: 'no name' },
    path: 'project',
    message: 'wanted: up to 64 letters, digits, dots, underscores and dashes; came: "no name"',
    args: ['--project', 'no name'],
  },
  {
    written: { project: 'elsewhere' },
    path: 'project',
    message: 'unknown project "elsewhere"; declare it under projects, in the file or in the store',
    args: ['--project', 'elsewhere'],
  },
  {
    written: { limits: { requests_per_minute: 0 } },
    path: 'limits.requests_per_minute',
    message: 'wanted: a whole number from 1 to 1000000000000; came: 0',
    args: ['--limit', 'requests_per_minute=0'],
  },
  {
    written: { limits: { request_per_minute: 60 } },
    path: 'limits.request_per_minute',
    message: 'unknown key; did you mean requests_per_minute?',
    args: ['--limit', 'request_per_minute=60'],
    notInForm: true,
  },
  {
    written: { budgets: [{ every: 'month', amount: 'EUR 50' }] },
    path: 'budgets[0].amount',
    message: 'wanted: an amount in US dollars, without a currency, such as 12.50; came: "EUR 50"',
    args: ['--budget', 'month=EUR 50'],
  },
  {
    written: { budgets: [{ every: 'moth', amount: '5' }] },
    path: 'budgets[0].every',
    message: 'wanted: one of day, week, month, total; came: "moth"; did you mean month?',
    args: ['--budget', 'moth=5'],
  },
  {
    written: { budgets: [{ every: 'month', amount: '5', alerts: ['200%'] }] },
    path: 'budgets[0].alerts[0]',
    message: 'wanted: a percentage from 1% to 100%; came: "200%"',
    args: ['--budget', 'month=5:200%'],
  },
  {
    written: { metadata: { team: 'x'.repeat(513) } },
    path: 'metadata.team',
    message: 'wanted: text of up to 512 characters, without control characters; came: other text, of 513 characters',
    args: ['--metadata', `team=${'x'.repeat(513)}`],
  },
  {
    written: { capture: '7' },
    path: 'capture',
    message: 'wanted: a time with its unit, such as 500ms, 30s, 5m or 1h; came: "7"',
    args: ['--capture', '7'],
  },
  {
    written: { capture: '9999d' },
    path: 'capture',
    message: 'wanted: a time from 1m to 365d; came: "9999d"',
    args: ['--capture', '9999d'],
  },
  {
    written: { shape: 'square' },
    path: 'shape',
    message: 'wanted: one of cohere, jina, voyage, tei; came: "square"',
    args: ['--shape', 'square'],
  },
];

const upstreamRows: readonly Row[] = [
  { written: { family: 'opnai' }, path: 'family', message: 'unknown family "opnai"; did you mean openai?' },
  {
    written: { base_url: 'example.com' },
    path: 'base_url',
    message: 'wanted: a URL that begins with http:// or https:// and a host, or unix: and the path of a socket',
  },
  { written: { screen: 'none' }, path: 'screen', message: 'wanted: one of all, errors; came: "none"', notInForm: true },
  {
    written: { timeouts: { connect: '5' } },
    path: 'timeouts.connect',
    message: 'wanted: a time with its unit, such as 500ms, 30s, 5m or 1h; came: "5"',
  },
  {
    written: { limits: { concurrency: 0 } },
    path: 'limits.concurrency',
    message: 'wanted: a whole number from 1 to 1000000; came: 0',
  },
  {
    written: { health_check: { path: 'health' } },
    path: 'health_check.path',
    message: 'wanted: a path that begins with /, such as /health; came: other text, of 6 characters',
  },
  {
    written: { forward_headers: ['a b'] },
    path: 'forward_headers[0]',
    message: 'is no name that an HTTP header can have',
  },
];

const modelRows: readonly Row[] = [
  {
    written: { operations: ['embedings'] },
    path: 'operations[0]',
    message: `wanted: ${operation}; came: "embedings"; did you mean embeddings?`,
  },
  {
    written: { aliases: ['a*'] },
    path: 'aliases[0]',
    message: 'an alias is an exact name; give the pattern a model of its own',
  },
  {
    written: { targets: [{ upstream: 'two' }] },
    path: 'targets[0].upstream',
    message: 'unknown upstream "two"; declare it under upstreams',
  },
  {
    written: { targets: [{ upstream: 'one', weight: -1 }] },
    path: 'targets[0].weight',
    message: 'wanted: a whole number from 0 to 1000000; came: -1',
  },
  { written: { shape: 'square' }, path: 'shape', message: 'wanted: one of cohere, jina, voyage, tei; came: "square"' },
  {
    written: { budgets: [{ every: 'month', amount: 'EUR 50' }] },
    path: 'budgets[0].amount',
    message: 'wanted: an amount in US dollars, without a currency, such as 12.50; came: "EUR 50"',
  },
];

const projectRows: readonly Row[] = [
  {
    written: { name: 'a\u0007' },
    path: 'name',
    message: 'wanted: text of 1 to 100 visible characters; came: "a\\u0007"',
  },
  {
    written: { name: 'pay \u202eroll' },
    path: 'name',
    message: 'wanted: text of 1 to 100 visible characters; came: "pay \u202eroll"',
  },
  {
    written: { name: '\u3164\u2800' },
    path: 'name',
    message: 'wanted: text of 1 to 100 visible characters; came: "\u3164\u2800"',
  },
  {
    written: { limits: { tokens_per_day: 1.5 } },
    path: 'limits.tokens_per_day',
    message: 'wanted: a whole number from 1 to 1000000000000; came: 1.5',
  },
  {
    written: { budgets: [{ every: 'day', amount: '0.0000000001' }] },
    path: 'budgets[0].amount',
    message: 'wanted: at most nine decimals; came: "0.0000000001"',
  },
];

interface ElementCase {
  readonly list: 'upstreams' | 'models' | 'projects';
  readonly right: Document;
  readonly rows: readonly Row[];
  /** What the console's form makes of a document, and what it calls its fields. */
  readonly form: {
    readonly document: (written: Document) => Document;
    readonly fields: readonly string[];
    readonly toField?: (path: string) => string;
  };
}

/** A family of which the form shows no defaults. */
const plain = { baseUrl: null, options: [] };

const elements: readonly ElementCase[] = [
  {
    list: 'upstreams',
    right: { id: 'new', family: 'openai', base_url: 'http://127.0.0.1:9/v1' },
    rows: upstreamRows,
    form: {
      document: (written) => upstreamForm.toUpstreamDocument(upstreamForm.toUpstreamValues(written, plain), plain),
      fields: Object.keys(upstreamForm.toUpstreamValues({ id: 'new', family: 'openai' }, plain)),
      toField: upstreamForm.toField,
    },
  },
  {
    list: 'models',
    right: { id: 'new', operations: ['embeddings'], targets: [{ upstream: 'one' }] },
    rows: modelRows,
    form: {
      document: (written) => modelForm.toModelDocument(modelForm.toModelValues(written)),
      fields: Object.keys(modelForm.toModelValues({})),
    },
  },
  {
    list: 'projects',
    right: { id: 'new' },
    rows: projectRows,
    form: {
      document: (written) => keyForm.toProjectDocument(keyForm.toProjectValues(written)),
      fields: Object.keys(keyForm.toProjectValues({})),
    },
  },
];

/** Of the element at `at`, and of nothing else. */
const within = (at: string, faults: readonly { readonly path: string; readonly message: string }[]): Found[] =>
  faults.map(({ path, message }) => [path.startsWith(`${at}.`) ? path.slice(at.length + 1) : path, message]);

async function inFile(t: TestContext, list: keyof typeof lists, element: Document): Promise<Found[]> {
  const others = lists[list];
  const text = JSON.stringify({ ...configuration, [list]: [...others, element] });
  const cwd = await createDirectory(t, { 'postern.yaml': text });
  const result = await loadConfiguration({ cwd, env: {}, families });
  return result.ok ? [] : within(`${list}[${others.length}]`, result.faults);
}

const lists: Readonly<Record<ElementCase['list'] | 'keys', readonly Document[]>> = {
  upstreams: configuration.upstreams,
  models: configuration.models,
  projects: configuration.projects,
  keys: [],
};

const toFound = (json: { readonly fields?: readonly { path: string; message: string }[] }): Found[] =>
  (json.fields ?? []).map(({ path, message }) => [path, message]);

/** A fault at a field that the form lacks would be shown above it, without the field's name. */
function assertInForm(path: string, fields: readonly string[], toField: (path: string) => string = (one) => one): void {
  const [field = ''] = toField(path).split(/[.[]/);
  assert.ok(fields.includes(field), `the form has no ${field}`);
}

test('a fault in a key has the same wording in configuration file, command line, admin API and console', async (t) => {
  const { run } = await setUpCommand(t, keys, { projects: configuration.projects });
  const { ask } = await openAdmin(t, { configuration });
  for (const { written, path, message, args = [], notInForm } of keyRows) {
    const expected: Found[] = [[path, message]];
    const secret = 'a-secret-that-the-file-declares';
    assert.deepEqual(await inFile(t, 'keys', { id: 'k', secret, ...written }), expected, `file: ${path}`);
    const [option = ''] = args;
    await assert.rejects(run('create', ...args), (thrown) => {
      assert.ok(thrown instanceof UserFault, `command line: ${path}`);
      assert.ok(thrown.message.startsWith(option), thrown.message);
      assert.equal(thrown.message.slice(thrown.message.indexOf(': ') + 2), message, `command line: ${path}`);
      return true;
    });
    const sent = await ask('POST', '/api/keys', { name: 'n', ...written });
    assert.deepEqual([sent.status, toFound(sent.json)], [422, expected], `API: ${path}`);
    if (notInForm) continue;
    const standard = { models: ['*'], limits: {}, budgets: [], metadata: {} };
    const withAlerts = { ...written, ...(Array.isArray(written.budgets) && { budgets: written.budgets.map(alerted) }) };
    const filled = { ...keyForm.toKeyDocument(keyForm.toKeyValues(asKey({ ...standard, ...withAlerts }))), name: 'n' };
    assert.deepEqual(toFound((await ask('POST', '/api/keys', filled)).json), expected, `console: ${path}`);
    assertInForm(path, Object.keys(keyForm.toKeyValues({})), keyForm.toField);
  }
});

/** As if the API had answered with it: forms are filled from there. */
const asKey = (document: Document): KeyDocument => JSON.parse(JSON.stringify(document));

/** Only where none is there yet. */
const asNew = { 'if-none-match': '*' };

const alerted = (budget: Document): Document => ({ alerts: ['80%'], ...budget });

for (const { list, right, rows, form } of elements) {
  test(`a fault in one of ${list} has the same wording in file, command line, admin API and console`, async (t) => {
    const { run, cwd } = await setUpCommand(t, resources);
    const { ask } = await openAdmin(t, { configuration });
    for (const { written, path, message, notInForm } of rows) {
      const element = { ...right, ...written };
      const expected: Found[] = [[path, message]];
      assert.deepEqual(await inFile(t, list, element), expected, `file: ${path}`);
      await writeFile(join(cwd, 'more.json'), JSON.stringify({ [list]: [element] }));
      const { errors } = await run('apply', 'more.json');
      const printed = errors
        .map((line) => line.split('  '))
        .map(([, at = '', message = '']) => ({ path: at, message }));
      // A terminal gets characters that cannot be seen as escapes.
      assert.deepEqual(within(`${list}[0]`, printed), [[path, toPrintable(message)]], `command line: ${path}`);
      const resourcePath = `/api/${list}/${encodeURIComponent(String(right.id))}`;
      const sent = await ask('PUT', resourcePath, element, asNew);
      assert.deepEqual([sent.status, toFound(sent.json)], [422, expected], `API: ${path}`);
      if (notInForm) continue;
      const filled = await ask('PUT', resourcePath, form.document(element), asNew);
      assert.deepEqual(toFound(filled.json), expected, `console: ${path}`);
      assertInForm(path, form.fields, form.toField);
    }
  });
}
