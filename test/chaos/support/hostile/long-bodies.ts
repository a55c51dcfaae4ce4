/** Bodies that take long to read, count, translate or embed, for each operation. */

import type { Operation } from '../../../../src/core/operations/index.ts';
import { filled } from './hostile-bodies.ts';

/** As many as a list may have where it is translated, but for a few. */
const fittingItems = 49_000;
const mostInputs = 2_048;
const mostTokenIds = 300_000;

/** What stands before the texts. */
const fieldOf: Readonly<Record<Operation, string>> = {
  completions: '"max_tokens":1000000,"prompt":',
  edits: '"instruction":"sort the lines","input":',
  rerank: '"query":"x y","documents":',
  moderations: '"input":',
  embeddings: '"input":',
  chat: '"messages":',
  images: '"prompt":',
  image_edits: '"images":[{}],"prompt":',
  image_variations: '"image":',
  transcriptions: '"file":',
  translations: '"file":',
  speech: '"voice":"alloy","input":',
  messages: '"max_tokens":1000000,"messages":',
  count_tokens: '"messages":',
  responses: '"store":false,"input":',
  generate: '"contents":',
  own: '"text":',
};

interface Ground {
  /** Up to where the texts stand. */
  readonly start: string;
  readonly limitBytes: number;
  /** One text where one is taken. */
  readonly open: '"' | '["';
  readonly close: '"' | '"]';
}

type Make = (ground: Ground) => Buffer;

const text =
  (unit: string): Make =>
  ({ start, limitBytes, open, close }) =>
    filled(limitBytes, start + open, unit, `${close}}`);

const list =
  (element: string): Make =>
  ({ start, limitBytes }) =>
    filled(limitBytes, `${start}[`, `${element},`, `${element}]}`);

const listOf =
  (count: number, element: string, more = ''): Make =>
  ({ start }) =>
    Buffer.from(`${start}[${Array(count).fill(element).join(',')}]${more}}`);

const beside =
  (before: string, unit: string, after: string): Make =>
  ({ start, limitBytes, open, close }) =>
    filled(limitBytes, `${start}${open}x${close}${before}`, unit, `${after}}`);

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `f${index}`);

const ofAll: Readonly<Record<string, Make>> = {
  'one text': text('x'),
  'words in lines': text('some words\\n'),
  'text beyond ASCII': text('模é '),
  'combining marks': text('a\u0301\u0316\u0334\u0327\uff9e'),
  'marks and nothing else': text('\u0301\u0316\u0334\u0327\uff9e'),
  escapes: text('\\u0041'),
  'escaped quotes': text('\\"'),
  backslashes: text('\\\\'),
  'a long field beside it': beside(',"further":"', 'x', '"'),
  'numbers beside it': beside(',"further":[', '1,', '1]'),
  'white space': beside('', ' ', ''),
  'many fields': ({ start, open, close }) => {
    const fields = names(9_000).map((name) => `"${name}":0`);
    return Buffer.from(`${start}${open}x${close},${fields.join(',')}}`);
  },
};

const ofLists: Readonly<Record<string, Make>> = {
  'short texts': list('"a"'),
  'as many short texts as fit': listOf(fittingItems, '"a"'),
  'many texts of words': (ground) => {
    const words = 'word '.repeat(Math.floor(ground.limitBytes / mostInputs / 5) - 2);
    return listOf(mostInputs, `"${words}"`)(ground);
  },
  objects: list('{"text":"a","type":"text"}'),
};

const tokenIds: Make = ({ start }) => Buffer.from(`${start}[${Array(mostTokenIds).fill('1000').join(',')}]}`);

const ofSome: Readonly<Partial<Record<Operation, Readonly<Record<string, Make>>>>> = {
  completions: {
    ...ofLists,
    'token IDs': tokenIds,
    prompts: listOf(mostInputs, '"a prompt of some words"'),
    'a stop text': ({ start }) => Buffer.from(`${start}"${'x'.repeat(1_000_000)}","stop":"${'x'.repeat(500_000)}y"}`),
    'stop texts': ({ start }) => Buffer.from(`${start}"${'x'.repeat(1_000_000)}","stop":["${'x'.repeat(999)}y"]}`),
  },
  rerank: {
    ...ofLists,
    'documents to be given back': listOf(9_000, '{"text":"a document","page":1.0}', ',"return_documents":true'),
    'documents of many fields': listOf(
      9_000,
      `{${names(40).map((name) => `"${name}":"a"`)}}`,
      `,"rank_fields":${JSON.stringify(names(90))}`,
    ),
  },
  moderations: { ...ofLists, images: list('{"type":"image_url","image_url":{}}') },
  embeddings: {
    ...ofLists,
    'token IDs': tokenIds,
    'more token IDs than are decoded': list('1000'),
    'lists of token IDs': listOf(fittingItems, '[1000,1001]'),
    'vectors in base64': listOf(mostInputs, '"a text"', ',"encoding_format":"base64","dimensions":1024'),
    'vectors as numbers': listOf(mostInputs, '"a text"', ',"encoding_format":"float","dimensions":1024'),
  },
  chat: {
    ...ofLists,
    messages: list('{"role":"user","content":"a word"}'),
    images: list('{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}'),
    'escaped letters': list('{"role":"user","content":"\\u0041\\u0042"}'),
    tools: listOf(
      9_000,
      '{"type":"function","function":{"name":"f","parameters":{}}}',
      ',"tools":[{"type":"function"}]',
    ),
  },
};

const bodiesOf = (operation: Operation): Readonly<Record<string, Make>> => ({ ...ofAll, ...ofSome[operation] });

export const namesOf = (operation: Operation): string[] => Object.keys(bodiesOf(operation));

/** With as many bytes as may be, or as many of something. */
export function makeLongBody(operation: Operation, name: string, model: string, limitBytes: number): Buffer {
  const make = bodiesOf(operation)[name];
  if (make === undefined) throw new TypeError(`there is no body "${name}" for ${operation}`);
  const start = `{"model":${JSON.stringify(model)},${fieldOf[operation]}`;
  const brackets =
    operation === 'rerank' ? ({ open: '["', close: '"]' } as const) : ({ open: '"', close: '"' } as const);
  return make({ start, limitBytes, ...brackets });
}
