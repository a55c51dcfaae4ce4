/** docs/reference/compatibility.md: writes the results of a run as tables by task, and reads them back. */

import { type KnownClient, type Language, languages, type Task } from './client.ts';
import { allTasks, type Trial, tasksOf } from './fixtures.ts';
import type { Outcome } from './run.ts';

export interface Cell {
  readonly task: Task;
  /** By name. */
  readonly trial: string;
  readonly client: string;
  readonly outcome: Outcome;
}

const headings: Readonly<Record<Task, readonly [title: string, route: string]>> = {
  embeddings: ['Embeddings', '/v1/embeddings'],
  engines: ['Embeddings on the engines path', '/v1/engines/{model}/embeddings'],
  rerank: ['Rerank', '/v1/rerank'],
  moderations: ['Moderations', '/v1/moderations'],
  completions: ['Completions', '/v1/completions'],
  streams: ['Completions, streamed', '/v1/completions'],
  edits: ['Edits', '/v1/edits'],
  chat: ['Chat', '/v1/chat/completions'],
  chatStreams: ['Chat, streamed', '/v1/chat/completions'],
  tools: ['Chat with a tool', '/v1/chat/completions'],
  responses: ['Responses', '/v1/responses'],
  responseStreams: ['Responses, streamed', '/v1/responses'],
  messages: ['Messages', '/v1/messages'],
  messageStreams: ['Messages, streamed', '/v1/messages'],
  generate: ['Gemini', '/v1beta/models/{model}:generateContent'],
  generateStreams: ['Gemini, streamed', '/v1beta/models/{model}:streamGenerateContent'],
  images: ['Images', '/v1/images/generations'],
  speech: ['Speech', '/v1/audio/speech'],
  transcriptions: ['Transcriptions', '/v1/audio/transcriptions'],
};

const opening = `# Clients

Which client libraries work with which upstream families, by operation. Each table cell is the result of a test: the unmodified library calls a
gateway, and the gateway calls a fake service of the family. The test compares what the client received with what the service sent.
\`npm run compatibility\` writes this page. \`npm test\` checks the columns of \`openai\`, \`cohere-ai\` and \`@anthropic-ai/sdk\`;
\`npm run test:full\` checks all.

- **ok**: the call works, with one text and many, in all scripts, with exact numbers and order. For chat and similar operations, token count and cost
  in the ledger are right too.
- **refused**: the call returns an error; the number refers to a note below the table.
- **unread**: the service's bytes pass unchanged, but the client cannot read them, even without a gateway. The note has the reason.
- \`over bridge: …\`: the target [emulates](../guides/emulation.md) the operation over chat.
- Families without a row do not offer the operation. Clients without a column have no call for it, or one that
  [cannot reach Postern](#calls-that-do-not-reach-postern).

The [local models](local-models.md) of family \`local\` are not listed.`;

/** With the clients of some languages alone, it is the page without the parts of the others. */
export function render(trials: readonly Trial[], clients: readonly KnownClient[], cells: readonly Cell[]): string {
  const parts = [
    opening,
    '## Versions and set-up',
    ...byLanguage(clients, renderSetUps),
    ...allTasks.flatMap((task) => {
      const of = cells.filter((cell) => cell.task === task);
      return [...renderTask(task, trials), ...byLanguage(clients, (some) => renderCells(task, trials, some, of))];
    }),
    '## Calls that do not reach Postern',
    'These calls of the client libraries fail at Postern. Each is tested, so that the list stays correct.',
    ...byLanguage(clients, renderDeadEnds),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The page without the parts about clients in other languages. */
export function onlyOf(page: string, kept: readonly Language[]): string {
  let isKept = true;
  const lines = page.split('\n').filter((line) => {
    const [, level, title] = /^(##|###) (.*)$/.exec(line) ?? [];
    if (level !== undefined) isKept = level === '##' || kept.some((one) => one === title);
    return isKept;
  });
  return `${lines.join('\n').trimEnd()}\n`;
}

/** A part for each language that has clients. */
function byLanguage(
  clients: readonly KnownClient[],
  namesOf: (some: readonly KnownClient[]) => readonly string[],
): string[] {
  return languages.flatMap((language) => {
    const names = namesOf(clients.filter((client) => client.language === language));
    return names.length === 0 ? [] : [`### ${language}`, ...names];
  });
}

function renderSetUps(clients: readonly KnownClient[]): string[] {
  const rows = clients.map(({ package: name, versions, setUp, remark = '' }) => {
    const all = Object.entries(versions).map(([one, version]) => (one === name ? version : `\`${one}\` ${version}`));
    return [`\`${name}\``, all.join(', '), `\`${setUp}\``, remark];
  });
  return rows.length === 0 ? [] : [table(['client', 'version', 'made with', 'to know'], rows)];
}

function renderTask(task: Task, trials: readonly Trial[]): string[] {
  const [title, route] = headings[task];
  const others = trials.filter((trial) => trial.bridge === undefined && !offers(trial, task));
  return [
    `## ${title}`,
    `\`POST ${route}\`.`,
    ...(others.length === 0
      ? []
      : [`Families without this operation (${title}): ${others.map(({ name }) => `\`${name}\``).join(', ')}.`]),
  ];
}

const offers = ({ operations }: Trial, task: Task): boolean => operations.some((one) => tasksOf[one]?.includes(task));

function renderCells(
  task: Task,
  trials: readonly Trial[],
  clients: readonly KnownClient[],
  cells: readonly Cell[],
): string[] {
  const able = clients.filter(({ ways }) => ways[task] !== undefined);
  if (able.length === 0) return [];
  const calls = able.map(({ package: name, ways }) => `\`${name}\` by ${ways[task]?.call}`);
  const notes: string[] = [];
  const rows = trials
    .filter((trial) => offers(trial, task))
    .map(({ name }) => [
      `\`${name}\``,
      ...able.map(({ package: client }) => {
        const cell = cells.find((one) => one.trial === name && one.client === client);
        return cell === undefined ? '' : toMark(cell.outcome, notes);
      }),
    ]);
  return [
    `Tested client calls (${headings[task][0]}): ${calls.join('; ')}.`,
    table(['family', ...able.map((client) => `\`${client.package}\``)], rows),
    ...(notes.length === 0 ? [] : [notes.map((note, index) => `${index + 1}. ${note}`).join('\n')]),
  ];
}

function renderDeadEnds(clients: readonly KnownClient[]): string[] {
  const rows = clients.flatMap(({ package: name, deadEnds = [] }) =>
    deadEnds.map(({ call, path, code, why }) => [`\`${name}\``, call, `\`${path}\``, `\`${code}\``, why]),
  );
  return rows.length === 0 ? [] : [table(['client', 'call', 'goes to', 'answered with', 'why'], rows)];
}

/** The same note stands once. */
function toMark(outcome: Outcome, notes: string[]): string {
  if (outcome.kind === 'ok') return 'ok';
  const note = outcome.kind === 'refused' ? toNote(outcome) : inLine(outcome.fact);
  if (!notes.includes(note)) notes.push(note);
  return `${outcome.kind} (${notes.indexOf(note) + 1})`;
}

function toNote({ status, code, param, message }: Extract<Outcome, { kind: 'refused' }>): string {
  const names = [code, param].filter((name) => name !== undefined && name !== null).map((name) => ` \`${name}\``);
  return `${status}${names.join(',')}: ${inLine(message)}`;
}

const inLine = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 300);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** The marks of a task's tables, by trial and client. Undefined where the page has no such cell. */
export function marksIn(page: string, task: Task): (trial: string, client: string) => string | undefined {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${headings[task][0]}\n`)) ?? '';
  const tables = section.split(/^### /m).map((part) =>
    part
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').map((cell) => cell.trim())),
  );
  return (trial, client) => {
    const [head = [], , ...rows] = tables.find(([one]) => one?.includes(`\`${client}\``)) ?? [];
    const row = rows.find((cells) => cells[1] === `\`${trial}\``);
    return row?.[head.indexOf(`\`${client}\``)]?.replace(/ .*/, '');
  };
}
