/** Merges stored settings where the file leaves them open; the file has precedence. */

import { isMapping } from '../../lib/is-mapping.ts';
import { type ImportedPrices, toImportedPrices } from '../../prices/imported.ts';
import { locationOf } from '../elements/context.ts';
import { judge } from '../elements/judge.ts';
import type { Settings } from '../elements/schema.ts';
import type { FaultList, Path, Position } from '../read/faults.ts';
import type { Substitution } from '../read/substitute.ts';
import { type SettingEntry, settingSchema, settingSections } from './resource-schemas.ts';
import type { Element } from './resources.ts';

interface StoredSettingsContext {
  readonly faults: FaultList;
  readonly isSubstituted: Substitution['isSubstituted'];
  readonly positionOf: (path: Path) => Position | undefined;
}

export interface StoredSettings {
  readonly settings: Settings;
  /** Webhooks of the store obey the file's address policy. */
  readonly areWebhooksStored: boolean;
  readonly importedPrices: ImportedPrices | undefined;
}

/** `tree` is the file's content, before defaults. */
export function* addingStoredSettings(
  settings: Settings,
  tree: Readonly<Record<string, unknown>>,
  elements: readonly Element[],
  context: StoredSettingsContext,
): Generator<undefined, StoredSettings, undefined> {
  let { alerts, ledger } = settings;
  let areWebhooksStored = false;
  let importedPrices: ImportedPrices | undefined;
  for (const { kind, id, root, document } of elements) {
    if (kind !== 'setting' || isDeclared(id, document, root, tree, context)) continue;
    const entry = judge(settingSchema, document, [root], context);
    if (entry === undefined || !holdsItsOwn(entry, root, context.faults)) continue;
    if (entry.id === 'prices') {
      importedPrices = pricesOf.get(document) ?? (yield* readingPrices(entry, document, root, context.faults));
    }
    const { webhooks, retention, redact } = entry;
    areWebhooksStored ||= webhooks !== undefined;
    alerts = { ...alerts, ...(webhooks !== undefined && { webhooks }) };
    ledger = { ...ledger, ...(retention !== undefined && { retention }), ...(redact !== undefined && { redact }) };
  }
  return { settings: { ...settings, alerts, ledger }, areWebhooksStored, importedPrices };
}

/** Lists without faults: they are long, and the document is the same one while nothing in it changes. */
const pricesOf = new WeakMap<Element['document'], ImportedPrices>();

function* readingPrices(
  { as_of: asOf, source, csv }: SettingEntry,
  document: Element['document'],
  root: string,
  faults: FaultList,
): Generator<undefined, ImportedPrices | undefined, undefined> {
  if (asOf !== undefined && source !== undefined && csv !== undefined) {
    let isFaulty = false;
    const prices = yield* toImportedPrices({ asOf, source }, csv, (line, message) => {
      isFaulty = true;
      faults.add([root, 'csv', line], `line ${line}: ${message}`);
    });
    if (!isFaulty) pricesOf.set(document, prices);
    return prices;
  }
  faults.add([root], 'needs as_of, source and csv; "postern prices import FILE" writes all of them');
  return undefined;
}

/** The file's settings win: the same one in the store is a fault. */
function isDeclared(
  id: string,
  document: Element['document'],
  root: string,
  tree: Readonly<Record<string, unknown>>,
  { faults, positionOf }: StoredSettingsContext,
): boolean {
  const section = tree[id];
  const both = Object.keys(document).filter((key) => key !== 'id' && isMapping(section) && section[key] !== undefined);
  for (const key of both) {
    faults.add(
      [root, key],
      `is declared by the configuration file too: ${locationOf([id, key], { positionOf })}; the file manages it, so change it there, or take it out of one of the two`,
    );
  }
  return both.length > 0;
}

function holdsItsOwn(entry: SettingEntry, root: string, faults: FaultList): boolean {
  const own: readonly string[] = settingSections[entry.id];
  const foreign = Object.keys(entry).filter((key) => key !== 'id' && !own.includes(key));
  for (const key of foreign) faults.add([root, key], `is no setting of ${entry.id}, which has ${own.join(', ')}`);
  return foreign.length === 0;
}
