/** Writes what the ledger records about a request to the journal: its start, its settlement, and captured bodies. */

import type { Buffer } from 'node:buffer';
import { type Captured, mostKeptBytes } from '../core/accounting/captured.ts';
import type { Capture } from '../core/accounting/ledger-row.ts';
import type { Ledger, LedgerWaiter, Reservation } from '../core/accounting/spending.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { Journal } from '../journal/journal.ts';
import type { RowItem } from '../journal/journal-items.ts';
import type { Clock } from '../lib/clock.ts';
import { plainSpellings } from '../lib/secrets/secret-spellings.ts';
import { type Hidden, redact, toFieldPattern, withoutEscapes } from './redaction.ts';
import { RowWriter } from './row.ts';

export interface LedgerDeps {
  readonly journal: Pick<Journal, 'open' | 'settle' | 'note' | 'fits'>;
  readonly node: string;
  readonly clock: Clock;
}

export function createLedger({ journal, node, clock }: LedgerDeps): Ledger {
  const rows = new RowWriter(node);

  function toItem(exchange: Exchange, reservation: Reservation | undefined): RowItem {
    const capture = captureOf(exchange, clock);
    const item = rows.settlement(exchange, reservation, clock.monotonicMs(), capture);
    // Space is reserved for rows, not for bodies: where they do not fit, the row is written without.
    if (capture === undefined || journal.fits(item)) return item;
    return rows.settlement(exchange, reservation, clock.monotonicMs(), withoutBodies(capture));
  }

  function settle(exchange: Exchange, reservation: Reservation | undefined, waiter?: LedgerWaiter): Promise<void> {
    const item = toItem(exchange, reservation);
    return reservation === undefined ? journal.note(item, waiter) : journal.settle(exchange.id, item, waiter);
  }

  return {
    open: (exchange, reservation) => journal.open(exchange.id, rows.intent(exchange, reservation)),
    settle,
    openFor(waiter, exchange, reservation) {
      journal.open(exchange.id, rows.intent(exchange, reservation), waiter);
    },
    settleFor(waiter, exchange, reservation) {
      settle(exchange, reservation, waiter);
    },
  };
}

/** Content types that are captured as text. Captured are the beginnings of bodies, redacted, for keys with capture enabled. */
const isText = /^(?:text\/|application\/(?:[^;\s]+\+)?(?:json|x-ndjson|jsonl|xml)(?:;|\s|$))/i;
const longestName = 80;

/** The captured bodies of an exchange; undefined where the key has no capture, and for requests refused before their body was read. */
export function captureOf({ key, keySecret, captured, snapshot }: Exchange, clock: Clock): Capture | undefined {
  if (key?.captureMs === undefined || captured === undefined) return undefined;
  const hidden = hiddenIn(snapshot, keySecret);
  return {
    request: toKept(captured.request, captured.requestBytes, hidden),
    response: whyNotKept(captured) ?? toKept(captured.response, captured.responseBytes, hidden),
    expiresAtMs: clock.nowMs() + key.captureMs,
  };
}

/** The capture without its bodies, used where there is no space for them. */
function withoutBodies({ expiresAtMs }: Capture): Capture {
  const note = '[not kept: the journal had no room for it]';
  return { request: note, response: note, expiresAtMs };
}

function hiddenIn({ upstreams, ledger }: Snapshot, keySecret: string | undefined): Hidden {
  const own = keySecret === undefined ? [] : [{ secrets: [keySecret] }];
  return { secrets: secretsOf([...upstreams.values(), ...own]), fields: toFieldPattern(ledger.hiddenFields) };
}

function secretsOf(upstreams: Iterable<{ readonly secrets: readonly string[] }>): string[] {
  const all = new Set<string>();
  for (const { secrets } of upstreams) for (const spelling of secrets.flatMap(plainSpellings)) all.add(spelling);
  return [...all];
}

function whyNotKept({ contentEncoding, contentType, responseBytes }: Captured): string | undefined {
  if (responseBytes === 0) return undefined;
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    return `[not kept: ${responseBytes} bytes, compressed with ${toName(contentEncoding)}]`;
  }
  if (contentType === undefined || isText.test(contentType)) return undefined;
  return `[not kept: ${responseBytes} bytes of ${toName(contentType)}]`;
}

function toKept(gathered: Buffer, totalBytes: number, hidden: Hidden): string {
  if (totalBytes <= mostKeptBytes) {
    const text = withoutEscapes(gathered.toString('utf8'));
    return redact(text, hidden, text.length);
  }
  // A character that is cut at the end is left out.
  const beginning = new TextDecoder().decode(gathered.subarray(0, mostKeptBytes), { stream: true });
  const kept = redact(withoutEscapes(gathered.toString('utf8')), hidden, withoutEscapes(beginning).length);
  return `${kept}… [cut: ${totalBytes} bytes in all]`;
}

/** The beginning of a header, redacted: upstreams may send any text. */
function toName(header: string): string {
  return redact(header.slice(0, longestName), { secrets: [], fields: undefined }, longestName);
}
