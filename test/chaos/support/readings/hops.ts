/** What each hop of a chain saw of the requests, and whether all agree. */

import type { Exchange } from '../../../../src/core/exchange.ts';
import type { RawResponse } from '../../../support/clients/raw-client.ts';
import type { UpstreamRequest } from '../../../support/upstreams/fake-upstream.ts';

/** One case on one client connection: what was sent under these marks, and every answer that came. */
export interface Case {
  readonly name: string;
  /** In the order in which they stand in what was sent. */
  readonly marks: readonly string[];
  /** Where there is one way to read it: the marks that the gateway must see, and no others. */
  readonly holds: readonly string[] | undefined;
  readonly answers: readonly RawResponse[];
}

/** A line in the log of a server in front of the gateway or behind it. */
export interface LoggedRequest {
  /** Its `x-request-id`: the client's in front of the gateway, the gateway's behind it. */
  readonly mark: string;
  readonly status: number;
  /** Whether it was passed on. */
  readonly forwarded: boolean;
  readonly bodyBytes: number | undefined;
}

export interface Seen {
  readonly cases: readonly Case[];
  /** Absent where the client talks to the gateway itself. */
  readonly front: readonly LoggedRequest[] | undefined;
  readonly gateway: readonly Exchange[];
  /** Absent where the gateway talks to the upstream itself. */
  readonly behind: readonly LoggedRequest[] | undefined;
  readonly upstream: readonly UpstreamRequest[];
}

/** Statuses that the gateway's parser answers without an exchange, and a proxy's for a broken connection. */
const refusedUnseen = new Set([400, 408, 413, 431, 499, 501, 502, 504]);

/** Each disagreement in a line. */
export function disagreements(seen: Seen): string[] {
  const { cases, front, gateway, behind, upstream } = seen;
  const nameOf = new Map(cases.flatMap(({ name, marks }) => marks.map((mark) => [mark, name] as const)));
  const found: string[] = [];
  const report = (mark: string | undefined, what: string): void => {
    found.push(`${what}: ${mark ?? 'no mark'}, ${nameOf.get(mark ?? '') ?? 'of no case'}`);
  };

  const exchanges = byMark(gateway, ({ clientRequestId }) => clientRequestId ?? '');
  for (const [mark, { length }] of exchanges) {
    if (!nameOf.has(mark)) report(mark, `the gateway saw ${length} requests that nobody sent`);
    else if (length > 1) report(mark, 'the gateway saw it twice');
  }
  if (front !== undefined) compareFront(front, exchanges, report);
  compareUpstream(gateway, behind, upstream, report);
  for (const one of cases) compareAnswers(one, exchanges, report);
  for (const one of cases) compareCount(one, exchanges, front !== undefined, report);
  if (front === undefined) findUnanswered(seen, report);
  return found;
}

type Report = (mark: string | undefined, what: string) => void;

function compareFront(
  front: readonly LoggedRequest[],
  exchanges: ReadonlyMap<string, readonly Exchange[]>,
  report: Report,
): void {
  const lines = byMark(
    front.filter(({ forwarded }) => forwarded),
    ({ mark }) => mark,
  );
  for (const [mark, [line, ...more]] of lines) {
    if (more.length > 0) report(mark, 'the front passed it on twice');
    const exchange = exchanges.get(mark)?.[0];
    if (line === undefined) continue;
    if (exchange === undefined) {
      if (!refusedUnseen.has(line.status)) report(mark, `the front got ${line.status} for what the gateway never saw`);
      continue;
    }
    const wasLeft = exchange.errorCode === 'client_closed' || refusedUnseen.has(line.status);
    if (!wasLeft && line.status !== exchange.status) {
      report(mark, `the front got ${line.status} where the gateway answered ${exchange.status}`);
    }
    const { bodyBytes } = line;
    // Without a route, the body is discarded unread.
    if (
      bodyBytes !== undefined &&
      exchange.route !== undefined &&
      exchange.status === 200 &&
      exchange.requestBytes !== bodyBytes
    ) {
      report(mark, `a body of ${bodyBytes} bytes in front, and of ${exchange.requestBytes} in the gateway`);
    }
  }
  for (const mark of exchanges.keys()) {
    if (!lines.has(mark)) report(mark, 'the gateway saw a request that the front did not pass on');
  }
}

/** From the gateway to the journal, over the server between them where there is one. */
function compareUpstream(
  gateway: readonly Exchange[],
  behind: readonly LoggedRequest[] | undefined,
  upstream: readonly UpstreamRequest[],
  report: Report,
): void {
  const journal = byMark(upstream, (request) => request.header('x-request-id') ?? '');
  const lines = behind === undefined ? undefined : byMark(behind, ({ mark }) => mark);
  const ids = new Set<string>();
  for (const { id, clientRequestId: mark, attempts, status, requestBytes, errorCode } of gateway) {
    ids.add(id);
    const entries = journal.get(id) ?? [];
    const logged = lines?.get(id) ?? [];
    // Where the client left, an attempt may have ended before its first byte did.
    const least = errorCode === 'client_closed' ? 0 : attempts;
    for (const [hop, { length }] of [
      ['journal', entries] as const,
      ...(lines === undefined ? [] : [['log of the server behind', logged] as const]),
    ]) {
      if (length < least || length > attempts)
        report(mark, `${attempts} attempts, and ${length} requests in the ${hop}`);
    }
    for (const line of logged) {
      if (errorCode !== 'client_closed' && line.status !== status) {
        report(mark, `the server behind said ${line.status}, the gateway ${status}`);
      }
    }
    for (const { body, complete } of entries) {
      if (!complete) report(mark, 'the upstream got half of it');
      else if (body.length !== requestBytes || !body.includes(`"${mark}"`)) {
        report(mark, `the upstream got the body ${JSON.stringify(body.toString('latin1'))}`);
      }
    }
  }
  for (const id of [...journal.keys(), ...(lines?.keys() ?? [])]) {
    if (!ids.has(id)) report(undefined, `the gateway never sent ${JSON.stringify(id)}`);
  }
}

/** The client must see its own requests, in their order, each once and with its own answer. */
function compareAnswers(
  { marks, answers }: Case,
  exchanges: ReadonlyMap<string, readonly Exchange[]>,
  report: Report,
): void {
  let at = -1;
  for (const answer of answers) {
    const id = answer.header('x-request-id');
    if (id === undefined) continue; // the front's own word
    const index = marks.indexOf(id);
    const exchange = exchanges.get(id)?.[0];
    // Without an exchange the gateway's parser refused it, under an ID of its own.
    if (index === -1 && (exchange !== undefined || !refusedUnseen.has(answer.status))) {
      report(marks[0], `the client was told of ${id}`);
    }
    if (index === -1) continue;
    if (index <= at) report(id, 'an answer out of turn');
    at = index;
    if (exchange?.status !== answer.status) report(id, `the client was told ${answer.status}, not ${exchange?.status}`);
    const isOwn = answer.status !== 200 || answer.body.includes(`"${id}"`) || exchange?.route === undefined;
    if (answer.complete && !isOwn) report(id, `the answer to another request: ${answer.body}`);
  }
}

/** What can be read in one way only must be seen as it is, up to an answer that closes the connection. */
function compareCount(
  { marks, holds, answers }: Case,
  exchanges: ReadonlyMap<string, readonly Exchange[]>,
  hasFront: boolean,
  report: Report,
): void {
  if (holds === undefined) return;
  const counted = marks.filter((mark) => exchanges.has(mark));
  // A front may refuse more than the gateway would.
  const wanted = hasFront ? holds.filter((mark) => exchanges.has(mark)) : holds;
  const isClosed = answers.at(-1)?.header('connection')?.toLowerCase() === 'close';
  const isSame = counted.length === wanted.length || (isClosed && counted.length < wanted.length);
  if (!isSame || counted.some((mark, index) => mark !== wanted[index])) {
    report(marks[0], `the gateway saw ${counted} where ${holds} were sent`);
  }
}

/** A connected client gets the result of every request that went further. */
function findUnanswered({ cases, gateway, upstream }: Seen, report: Report): void {
  const answered = new Set(cases.flatMap(({ answers }) => answers.map((answer) => answer.header('x-request-id'))));
  const sent = new Set(upstream.map((request) => request.header('x-request-id')));
  for (const { id, clientRequestId: mark } of gateway) {
    if (sent.has(id) && !answered.has(mark)) report(mark, 'the upstream got it, and the client no answer');
  }
}

function byMark<Item>(items: readonly Item[], markOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const mark = markOf(item);
    const group = groups.get(mark);
    if (group === undefined) groups.set(mark, [item]);
    else group.push(item);
  }
  return groups;
}
