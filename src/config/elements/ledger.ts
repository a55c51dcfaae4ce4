/** Defines and compiles the `ledger` section of the configuration: what is recorded about requests, where, and for how long. */

import { dirname, join } from 'node:path';
import type * as z from 'zod';
import { durabilities } from '../../core/accounting/ledger-row.ts';
import type { LedgerSettings } from '../../core/snapshot.ts';
import { atStart, duration, filePath, list, mapping, oneOf, text } from './fields.ts';

const dayMs = 86_400_000;

export const ledgerSchema = mapping({
  journal: filePath()
    .optional()
    .describe(
      'Directory of the journal. By default `journal` beside a SQLite file, and `data/journal` with PostgreSQL.',
    )
    .meta({ kind: 'directory', restart: atStart(({ ledger }) => ledger.directory) }),
  durability: oneOf(durabilities)
    .default('fast')
    .describe('What a written row survives: the end of the process (`fast`), or a power cut (`strict`).')
    .meta({ restart: atStart(({ ledger }) => ledger.durability) }),
  journal_wait: duration(100, 60_000)
    .optional()
    .describe(
      'How long a request waits for the journal; then it gets 503. With this setting a thread writes the journal, so that a disk that does not answer delays no other work. It costs some 20 µs per request. Default: `10s` with `durability: strict`, otherwise none, and the event loop waits for the disk.',
    )
    .meta({ restart: atStart(({ ledger }) => ledger.journalWaitMs) }),
  retention: retentionField().prefault('90d').describe('How long rows are kept; sums stay.'),
  redact: redactField()
    .default([])
    .describe('JSON fields whose values are redacted in captured bodies, beside known secrets.'),
});

export function retentionField() {
  return duration(dayMs, 3650 * dayMs);
}

export function redactField() {
  return list(
    text('the name of a JSON field: 1 to 64 letters, digits, dots, underscores and dashes', /^[A-Za-z0-9._-]{1,64}$/),
    'a list of names',
  ).max(100, { error: 'at most 100 names' });
}

/** The default folder of the journal in version 0.1.0, for any store. */
export const formerJournal = join('data', 'journal');

/** The default folder of the journal, relative to the directory that the store's path is relative to. */
export function defaultJournal(store: string): string {
  const [, file] = /^sqlite:(.+)$/i.exec(store) ?? [];
  return file === undefined || file === ':memory:' ? formerJournal : join(dirname(file), 'journal');
}

export function toLedgerSettings(
  { journal, durability, journal_wait: wait, retention, redact }: z.output<typeof ledgerSchema>,
  store: string,
): LedgerSettings {
  const hiddenFields = Object.freeze([...new Set(redact)]);
  return Object.freeze({
    directory: journal ?? defaultJournal(store),
    durability,
    journalWaitMs: wait,
    retentionMs: retention,
    hiddenFields,
  });
}
