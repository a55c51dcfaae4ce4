/** The ledger and budgets of a store, joined with what an upstream and its clients saw. */

import type { LedgerRow, RowOutcome } from '../../../../src/core/accounting/ledger-row.ts';
import type { AccountState } from '../../../../src/core/store/budgets.ts';
import type { Store } from '../../../../src/core/store/store.ts';
import { openStore } from '../../../../src/store/open-store.ts';
import type { Figure } from '../../promise.ts';
import type { Answer } from '../clients/spenders.ts';
import { createViolations } from './findings.ts';

export interface StoreLocation {
  readonly url: string;
  /** What a path in it is relative to. */
  readonly cwd: string;
}

export interface Books {
  readonly rows: ReadonlyMap<string, LedgerRow>;
  /** Sums that differ from the rows. */
  readonly differences: readonly string[];
  /** Requests, by the sums. */
  readonly summedRequests: number;
  readonly accounts: ReadonlyMap<string, AccountState | undefined>;
}

const rowsAPage = 1_000;

/** Opens it, and closes it again whatever comes of it: what stays open would outlive a gateway that is killed. */
export async function withStore<T>({ url, cwd }: StoreLocation, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, { cwd });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The rows of what began at this time or later. */
export async function readRows({ ledger }: Store, fromMs = 0): Promise<Map<string, LedgerRow>> {
  const rows = new Map<string, LedgerRow>();
  for (let before: string | undefined; ; ) {
    const page = await ledger.page({ fromMs }, { before, limit: rowsAPage });
    for (const row of page.rows) rows.set(row.id, row);
    before = page.next;
    if (before === undefined) return rows;
  }
}

export function readBooks(location: StoreLocation, accountIds: readonly string[]): Promise<Books> {
  return withStore(location, async (store) => {
    const rows = await readRows(store);
    const [sums] = await store.ledger.usage({}, []);
    const accounts = new Map<string, AccountState | undefined>();
    for (const id of accountIds) accounts.set(id, await store.budgets.state(id));
    return {
      rows,
      differences: await store.ledger.verify(0, Number.MAX_SAFE_INTEGER),
      summedRequests: sums?.sums.requests ?? 0,
      accounts,
    };
  });
}

/** IDs begin with the milliseconds of their time. */
export function startedAtMs(id: string): number {
  return Number.parseInt(id.slice(0, 12), 16);
}

export interface Witnesses {
  /** By the exchange's ID, what the upstream charged. */
  readonly charges: ReadonlyMap<string, number>;
  readonly answers: readonly Pick<Answer, 'id' | 'status'>[];
}

export function countOutcomes({ rows }: Books): Readonly<Record<RowOutcome, number>> {
  const counts: Record<RowOutcome, number> = { ok: 0, error: 0, refused: 0, aborted: 0, cut: 0, lost: 0 };
  for (const { outcome } of rows.values()) counts[outcome] += 1;
  return counts;
}

/** Nothing lost, nothing twice, nothing otherwise than the clients saw it. */
export function joinBooks(name: string, books: Books, { charges, answers }: Witnesses): Figure[] {
  const { rows } = books;
  const lost = createViolations(`${name}: calls in the journal of the upstream without a row`);
  for (const id of charges.keys()) if (!rows.has(id)) lost.add(id);

  const twice = createViolations(`${name}: requests with two rows, and sums that are not those of the rows`);
  const byClientId = new Map<string, LedgerRow>();
  for (const row of rows.values()) {
    if (row.clientRequestId === null) continue;
    if (byClientId.has(row.clientRequestId)) twice.add(`${row.id}, which is ${row.clientRequestId} again`);
    byClientId.set(row.clientRequestId, row);
  }
  for (const sentence of books.differences) twice.add(sentence);
  if (books.summedRequests !== rows.size) twice.add(`${rows.size} rows, and ${books.summedRequests} by the sums`);

  const otherwise = createViolations(`${name}: whole answers whose row does not say so`);
  for (const { id, status } of answers) {
    // A client that sent an ID gets an answer with that ID.
    const row = rows.get(id) ?? byClientId.get(id);
    if (row?.status !== status || (status === 200 && row.outcome !== 'ok')) {
      otherwise.add(`${id}, answered ${status}: ${row === undefined ? 'no row' : `${row.outcome}, ${row.status}`}`);
    }
  }

  // What neither was lost nor broke off costs what the upstream charged, to the nano-dollar.
  const misjudged = createViolations(`${name}: rows with an end that cost something else than the upstream charged`);
  let ended = 0;
  for (const { id, outcome, costNanos } of rows.values()) {
    if (outcome !== 'ok') continue;
    ended += 1;
    if (costNanos !== charges.get(id)) misjudged.add(`${id}: ${costNanos}, charged ${charges.get(id)}`);
  }
  return [lost.outOf(charges.size), twice.outOf(rows.size), otherwise.outOf(answers.length), misjudged.outOf(ended)];
}

/** Each account by the rows that belong to it. */
export function compareAccounts(
  name: string,
  { rows, accounts }: Books,
  belongs: ReadonlyMap<string, (row: LedgerRow) => boolean>,
): Figure {
  const wrong = createViolations(
    `${name}: budgets that have not spent the sum of their rows, or of which something is still drawn`,
  );
  for (const [id, isOf] of belongs) {
    const account = accounts.get(id);
    const nanos = sumNanos(rows.values(), isOf);
    // Nothing was ever asked of it.
    if (account === undefined && nanos === 0) continue;
    if (account === undefined || account.spentNanos !== nanos || account.outstandingNanos !== 0) {
      wrong.add(`${id}: rows ${nanos}, spent ${account?.spentNanos}, drawn ${account?.outstandingNanos}`);
    }
  }
  return wrong.outOf(belongs.size);
}

export function sumNanos(rows: Iterable<LedgerRow>, isOf: (row: LedgerRow) => boolean = () => true): number {
  let nanos = 0;
  for (const row of rows) if (isOf(row)) nanos += row.costNanos ?? 0;
  return nanos;
}
