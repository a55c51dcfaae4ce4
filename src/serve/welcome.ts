/** Writes the text of the first start: the first key, an example command per route, and the console's set-up link. */

import { bodyOf, canBeShown, type Operation, operationRows, operations, pathOf } from '../core/operations/index.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { isSocketUrl, socketHost, toSocketUrl } from '../lib/addresses/socket-origin.ts';

interface Sample {
  readonly operation: Operation;
  path(model: string): string;
  body(model: string): unknown;
}

const samples: readonly Sample[] = operations.flatMap((operation): Sample[] => {
  // A request that is a form needs a file, which the reader may not have.
  if (!canBeShown(operation)) return [];
  const { sample } = operationRows[operation];
  const fields = { ...sample.body, ...sample.brief };
  const common: Sample = {
    operation,
    path: (model) => pathOf(operation, model),
    body: (model) => bodyOf(operation, model, fields),
  };
  if (operation !== 'embeddings') return [common];
  return [common, { operation, path: (model) => `/v1/engines/${model}/embeddings`, body: () => sample.body }];
});

/** Limit of the example commands; more would scroll the key off the screen. */
const mostLines = 6;

/** The first key as printed, or the file with it, which only the owner can read. */
type KeyOutput = { readonly secret: string } | { readonly file: string };

const stepsWithoutModels: readonly string[] = [
  'No model answers yet. Next, add an upstream and its models:',
  '  in the console: its page /setup tests the upstream, lists its models and makes the first call; or',
  '  in the configuration file: "postern init" writes one to start from, and a running gateway reads it again when it is saved.',
];

export function firstKeyLines(key: KeyOutput, baseUrl: string, snapshot: Snapshot): string[] {
  const lines =
    'secret' in key
      ? ['', 'Postern is running, and this is its first key. It is shown only now:', '', `  ${key.secret}`]
      : ['', 'Postern is running, and its first key is in a file that only its owner can read:', '', `  ${key.file}`];
  const calls: string[] = [];
  for (const sample of samples) {
    if (calls.length === mostLines) break;
    const model = snapshot.models.all.find(
      ({ id, operations, visible }) => operations.includes(sample.operation) && visible && !id.includes('*'),
    );
    if (model === undefined) continue;
    calls.push(toCurl(baseUrl + sample.path(model.id), key, sample.body(model.id)));
  }
  const next = calls.length === 0 ? stepsWithoutModels : ['Try it (each line works as pasted):', ...calls];
  return [...lines, '', ...next.flatMap((line) => [line, ''])];
}

/** The set-up link for a terminal, printed at each start until the console has an owner. */
export function setUpLines(link: string): string[] {
  return ['', 'Open the console and become its first owner (this link works once, for 24 hours):', '', `  ${link}`, ''];
}

/** Names the file with the set-up link, for output that may be collected in a log. */
export function setUpFileLines(file: string): string[] {
  return [
    '',
    'The link by which the console gets its first owner is in a file (it works once, for 24 hours; "postern members setup-link" makes another):',
    '',
    `  ${file}`,
    '',
  ];
}

function toCurl(url: string, key: KeyOutput, body: unknown): string {
  const authorization =
    'secret' in key ? `'Authorization: Bearer ${key.secret}'` : `"Authorization: Bearer $(cat ${toQuoted(key.file)})"`;
  return `curl ${toTarget(url)} -H ${authorization} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

function toTarget(url: string): string {
  if (!isSocketUrl(url)) return url;
  const { socket, path } = toSocketUrl(url);
  return `--unix-socket ${toQuoted(socket)} http://${socketHost}${path}`;
}

function toQuoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
