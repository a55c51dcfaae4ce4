/** Database columns of key settings: how each is written and read. */

import type { KeyTerms } from '../core/key.ts';
import { lanes } from '../core/lane.ts';
import { type Operation, operations } from '../core/operations/index.ts';
import type { KeyChange, NewKey } from '../core/store/keys.ts';
import { rerankShapes } from '../core/translation.ts';
import { pick } from '../lib/record-of.ts';
import { type Columns, toRow } from './columns.ts';
import { StoreError } from './store-error.ts';
import { oneOf, readCaps, readTextMap, readTexts } from './stored-json.ts';

/** Null are those that a former version did not know, too. */
export type KeyTermColumns = Columns<Partial<KeyTerms> & Pick<KeyTerms, 'models'>>;

const fields = [
  ...(['models', 'operations', 'addresses', 'project', 'caps', 'metadata', 'captureMs', 'shape', 'lane'] as const),
  'expiresAtMs',
] as const satisfies readonly (keyof KeyTerms)[];

export const toTermColumns = (terms: NewKey): KeyTermColumns => toRow(pick(terms, fields));

/** Only the columns of fields that are there. */
export function toChangedColumns(change: KeyChange): Partial<KeyTermColumns> {
  const changed = fields.filter((field) => change[field] !== undefined);
  return toRow(pick(change, changed)) as Partial<KeyTermColumns>;
}

export function toTerms(row: KeyTermColumns & { readonly id: string }): KeyTerms {
  const { id } = row;
  return {
    models: wanted(readTexts(row.models), id, 'models'),
    // This version cannot serve what another version knows beyond these.
    operations:
      row.operations === null ? undefined : wanted(readTexts(row.operations), id, 'operations').filter(isOperation),
    addresses: row.addresses === null ? undefined : wanted(readTexts(row.addresses), id, 'addresses'),
    project: row.project ?? undefined,
    caps: wanted(readCaps(row.caps), id, 'caps'),
    metadata: readTextMap(row.metadata),
    captureMs: row.capture_ms ?? undefined,
    // A shape that only another version knows counts as none.
    shape: row.shape === null ? undefined : oneOf(rerankShapes, row.shape),
    lane: row.lane === null ? undefined : oneOf(lanes, row.lane),
    expiresAtMs: row.expires_at ?? undefined,
  };
}

/** Throws where a limit cannot be read: without it the key must not work. */
function wanted<T>(value: T | undefined, id: string, field: string): T {
  if (value === undefined) {
    throw new StoreError(`The ${field} of the key ${id} cannot be read; revoke it and create another.`);
  }
  return value;
}

function isOperation(text: string): text is Operation {
  return oneOf(operations, text) !== undefined;
}
