/** Writes gateway calls to paste: for curl and common client libraries. Pure: text only. */

import { bodyOf, type Operation, operationRows, pathOf } from '../../../../src/admin/contract.ts';
import { isAtSocket, toBodyText, toCurlLine } from './curl-line.ts';

export interface SnippetFacts {
  /** The base URL of clients, before `/v1/...`. */
  readonly baseUrl: string;
  /** The secret if it is shown, else the name of a shell variable. */
  readonly secret: string | undefined;
  readonly model: string;
  readonly operation: Operation;
}

export interface CallSnippet {
  readonly id: 'curl' | 'openai-python' | 'openai-node' | 'cohere' | 'langchain';
  /** The title, such as "OpenAI SDK, Python". */
  readonly title: string;
  readonly language: string;
  readonly code: string;
  /** A remark that users must know. */
  readonly note?: string;
}

type Body = Readonly<Record<string, unknown>>;

const toBody = ({ model, operation }: Pick<SnippetFacts, 'model' | 'operation'>): Body =>
  bodyOf(operation, model, operationRows[operation].trial);

const atSocket =
  'The gateway listens on a socket alone: libraries need an HTTP client that connects to it, or a proxy before it.';

export function toSnippets(facts: SnippetFacts): CallSnippet[] {
  const { form, path } = operationRows[facts.operation];
  // OpenAI's libraries call only paths below their version.
  if (form !== undefined || !path.startsWith('/v1/')) return [toCurlSnippet(facts)];
  if (isAtSocket(facts.baseUrl)) return [{ ...toCurlSnippet(facts), note: atSocket }];
  const always = [toCurlSnippet(facts), toOpenAiPython(facts), toOpenAiNode(facts)];
  if (facts.operation === 'rerank') return [...always, toCohere(facts)];
  if (facts.operation === 'embeddings') return [...always, toLangChain(facts)];
  return always;
}

/** The path of an operation without the version, with which the libraries' base URL ends. */
const belowVersion = (operation: Operation): string => operationRows[operation].path.slice('/v1'.length);

function toCurlSnippet({ baseUrl, secret, model, operation }: SnippetFacts): CallSnippet {
  const { form } = operationRows[operation];
  const path = pathOf(operation, model);
  const asked =
    form === undefined
      ? { body: toBodyText(toBody({ model, operation })) }
      : { parts: [`model=${model}`, `${form}=@a-${form}`] };
  const code = toCurlLine({ baseUrl, path, secret, ...asked });
  return { id: 'curl', title: 'curl', language: 'Shell', code };
}

/** A value as a literal that both JavaScript and Python can read. */
const literal = (value: unknown): string => JSON.stringify(value);

const pythonKey = (secret: string | undefined): string =>
  secret === undefined ? 'os.environ["POSTERN_KEY"]' : literal(secret);
const pythonHead = (secret: string | undefined): string[] => (secret === undefined ? ['import os'] : []);

const toArguments = (body: Body, indent = '    '): string[] =>
  Object.entries(body).map(([name, value]) => `${indent}${name}=${literal(value)},`);

function toOpenAiPython({ baseUrl, secret, model, operation }: SnippetFacts): CallSnippet {
  const body = toBody({ model, operation });
  const client = [
    'client = OpenAI(',
    `    base_url=${literal(`${baseUrl}/v1`)},`,
    `    api_key=${pythonKey(secret)},`,
    ')',
  ];
  const code = [...pythonHead(secret), 'from openai import OpenAI', '', ...client, ''];
  const title = 'OpenAI SDK, Python';
  const { sdk } = operationRows[operation];
  if (sdk !== undefined) {
    code.push(`answer = client.${sdk.call}.create(`, ...toArguments(body), ')', `print(${sdk.python})`);
    return { id: 'openai-python', title, language: 'Python', code: code.join('\n') };
  }
  const fields = Object.entries(body).map(([name, value]) => `        ${literal(name)}: ${literal(value)},`);
  code.push(
    'answer = client.post(',
    `    ${literal(belowVersion(operation))},`,
    '    body={',
    ...fields,
    '    },',
    '    cast_to=object,',
    ')',
  );
  code.push('print(answer)');
  const note = `The library has no method for ${operation} of its own; its post() sends any body.`;
  return { id: 'openai-python', title, language: 'Python', code: code.join('\n'), note };
}

function toOpenAiNode({ baseUrl, secret, model, operation }: SnippetFacts): CallSnippet {
  const key = secret === undefined ? 'process.env.POSTERN_KEY' : literal(secret);
  const fields = Object.entries(toBody({ model, operation })).map(([name, value]) => `${name}: ${literal(value)},`);
  const head = [
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: ${literal(`${baseUrl}/v1`)},`,
    `  apiKey: ${key},`,
    '});',
    '',
  ];
  const title = 'OpenAI SDK, Node';
  const { sdk } = operationRows[operation];
  if (sdk !== undefined) {
    const call = [`const answer = await client.${sdk.call}.create({`, ...fields.map((field) => `  ${field}`), '});'];
    const code = [...head, ...call, `console.log(${sdk.node});`].join('\n');
    return { id: 'openai-node', title, language: 'JavaScript', code };
  }
  const call = [
    `const answer = await client.post('${belowVersion(operation)}', {`,
    '  body: {',
    ...fields.map((field) => `    ${field}`),
    '  },',
    '});',
  ];
  const note = `The library has no method for ${operation} of its own; its post() sends any body.`;
  const code = [...head, ...call, 'console.log(answer);'].join('\n');
  return { id: 'openai-node', title, language: 'JavaScript', code, note };
}

function toCohere({ baseUrl, secret, model, operation }: SnippetFacts): CallSnippet {
  const code = [
    ...pythonHead(secret),
    'import cohere',
    '',
    'co = cohere.ClientV2(',
    `    api_key=${pythonKey(secret)},`,
    `    base_url=${literal(baseUrl)},`,
    ')',
    '',
    'answer = co.rerank(',
    ...toArguments(toBody({ model, operation })),
    ')',
    'for result in answer.results:',
    '    print(result.index, result.relevance_score)',
  ].join('\n');
  const note = 'Without /v1 at the end: this library adds the version by itself.';
  return { id: 'cohere', title: 'Cohere SDK, Python', language: 'Python', code, note };
}

function toLangChain({ baseUrl, secret, model }: SnippetFacts): CallSnippet {
  const code = [
    ...pythonHead(secret),
    'from langchain_openai import OpenAIEmbeddings',
    '',
    'embeddings = OpenAIEmbeddings(',
    `    model=${literal(model)},`,
    `    base_url=${literal(`${baseUrl}/v1`)},`,
    `    api_key=${pythonKey(secret)},`,
    '    check_embedding_ctx_length=False,',
    ')',
    '',
    'vectors = embeddings.embed_documents(["Hello, world"])',
    'print(len(vectors[0]))',
  ].join('\n');
  const note =
    'Keep check_embedding_ctx_length=False: without it, LangChain sends the numbers of OpenAI’s own tokens rather than your text, which other models read as other words, or not at all.';
  return { id: 'langchain', title: 'LangChain, Python', language: 'Python', code, note };
}
