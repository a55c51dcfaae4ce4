/** Adds settings of the store to those of the file, which has precedence. */

import { isMapping } from '../../lib/is-mapping.ts';
import { type ImportedPrices, toImportedPrices } from '../../prices/imported.ts';
import { inFileToo, Location, type Reporting } from '../elements/context.ts';
import { judge } from '../elements/judge.ts';
import type { Settings } from '../elements/schema.ts';
import { type SettingEntry, settingSchema, settingSections } from './resource-schemas.ts';
import type { Element } from './resources.ts';

export interface StoredSettings {
  readonly settings: Settings;
  /** Whether the webhooks come from the store, and so must obey the file's address policy. */
  readonly areWebhooksStored: boolean;
  readonly importedPrices: ImportedPrices | undefined;
}

/** The settings of file and store together. `tree`: the file's content, before defaults. */
export function* addingStoredSettings(
  settings: Settings,
  tree: Readonly<Record<string, unknown>>,
  elements: readonly Element[],
  context: Reporting,
): Generator<undefined, StoredSettings, undefined> {
  let { alerts, ledger } = settings;
  let areWebhooksStored = false;
  let importedPrices: ImportedPrices | undefined;
  for (const { kind, id, root, document } of elements) {
    if (kind !== 'setting') continue;
    const location = new Location(context, [root]);
    if (isDeclared(document, tree[id], location, new Location(context, [id]))) continue;
    const entry = judge(settingSchema, document, [root], context);
    if (entry === undefined || !holdsItsOwn(entry, location)) continue;
    if (entry.id === 'prices') {
      importedPrices = pricesOf.get(document) ?? (yield* readingPrices(entry, document, location));
    }
    const { webhooks, retention, redact } = entry;
    areWebhooksStored ||= webhooks !== undefined;
    alerts = { ...alerts, ...(webhooks !== undefined && { webhooks }) };
    ledger = { ...ledger, ...(retention !== undefined && { retention }), ...(redact !== undefined && { redact }) };
  }
  return { settings: { ...settings, alerts, ledger }, areWebhooksStored, importedPrices };
}

/** Price lists that had no fault, by the stored document, so that a long list is not read again while it is unchanged. */
const pricesOf = new WeakMap<Element['document'], ImportedPrices>();

function* readingPrices(
  { as_of: asOf, source, csv }: SettingEntry,
  document: Element['document'],
  location: Location<Reporting>,
): Generator<undefined, ImportedPrices | undefined, undefined> {
  if (asOf !== undefined && source !== undefined && csv !== undefined) {
    let isFaulty = false;
    const prices = yield* toImportedPrices({ asOf, source }, csv, (line, message) => {
      isFaulty = true;
      location.at('csv', line).fault(`line ${line}: ${message}`);
    });
    if (!isFaulty) pricesOf.set(document, prices);
    return prices;
  }
  location.fault('needs as_of, source and csv; "postern prices import FILE" writes all of them');
  return undefined;
}

/** Whether the file has a setting that the store has too, which is reported as a fault: the file's value counts. */
function isDeclared(
  document: Element['document'],
  section: unknown,
  location: Location<Reporting>,
  inFile: Location<Reporting>,
): boolean {
  const both = Object.keys(document).filter((key) => key !== 'id' && isMapping(section) && section[key] !== undefined);
  for (const key of both) location.at(key).fault(inFileToo(inFile.at(key)));
  return both.length > 0;
}

function holdsItsOwn(entry: SettingEntry, location: Location<Reporting>): boolean {
  const own: readonly string[] = settingSections[entry.id];
  const foreign = Object.keys(entry).filter((key) => key !== 'id' && !own.includes(key));
  for (const key of foreign) location.at(key).fault(`is no setting of ${entry.id}, which has ${own.join(', ')}`);
  return foreign.length === 0;
}
