/** What the first start says: the first key, once, a line to paste for each route, and the link to the console. */

import { bodyOf, canBeShown, type Operation, operationRows, operations, pathOf } from '../core/operations/index.ts';
import type { Snapshot } from '../core/snapshot.ts';
import { isSocketUrl, socketHost, toSocketUrl } from '../lib/addresses/socket-origin.ts';

interface Sample {
  readonly operation: Operation;
  path(model: string): string;
  body(model: string): unknown;
}

const samples: readonly Sample[] = [
  // What takes a form needs a file at hand.
  ...operations.flatMap((operation): Sample[] => {
    if (!canBeShown(operation)) return [];
    const { sample } = operationRows[operation];
    const fields = { ...sample.body, ...sample.brief };
    return [
      { operation, path: (model) => pathOf(operation, model), body: (model) => bodyOf(operation, model, fields) },
    ];
  }),
  {
    operation: 'embeddings',
    path: (model) => `/v1/engines/${model}/embeddings`,
    body: () => operationRows.embeddings.sample.body,
  },
];

export function firstKeyLines(baseUrl: string, secret: string, snapshot: Snapshot): string[] {
  const lines = [
    '',
    'Postern is running, and this is its first key. It is shown only now:',
    '',
    `  ${secret}`,
    '',
    'Try it (each line works as pasted):',
    '',
  ];
  for (const sample of samples) {
    const model = snapshot.models.all.find(
      ({ id, operations, visible }) => operations.includes(sample.operation) && visible && !id.includes('*'),
    );
    if (model !== undefined) lines.push(toCurl(baseUrl + sample.path(model.id), secret, sample.body(model.id)), '');
  }
  return lines;
}

/** Said at each start until somebody followed it. */
export function setUpLines(link: string): string[] {
  return ['', 'Open the console and become its first owner (this link works once, for 24 hours):', '', `  ${link}`, ''];
}

function toCurl(url: string, secret: string, body: unknown): string {
  return `curl ${toTarget(url)} -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

function toTarget(url: string): string {
  if (!isSocketUrl(url)) return url;
  const { socket, path } = toSocketUrl(url);
  return `--unix-socket '${socket.replaceAll("'", "'\\''")}' http://${socketHost}${path}`;
}
