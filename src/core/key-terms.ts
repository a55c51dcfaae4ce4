/** What whoever changes keys asks of the configuration: what a key may be told, by the rules and in the words of its file. */

import type { BudgetPeriod, Caps } from './caps.ts';
import type { FieldFault } from './field-fault.ts';
import type { KeyRecord } from './key.ts';
import type { Operation } from './operation.ts';
import type { Place } from './resource-desk.ts';
import type { Snapshot } from './snapshot.ts';
import type { KeyChange, NewKey } from './store.ts';
import type { RerankShape } from './translation.ts';

export type NewKeyTerms = Omit<NewKey, 'digest' | 'hint'>;

export type ParsedTerms<T> =
  | { readonly terms: T; readonly faults?: undefined }
  | { readonly terms?: undefined; readonly faults: readonly FieldFault[] };

/** Limits and budgets in the words of the file. */
interface CapsDocument {
  readonly limits: Record<string, number>;
  readonly budgets: { every: BudgetPeriod; amount: string; alerts: string[] }[];
}

interface KeyTermsDocument extends CapsDocument {
  readonly project: string | null;
  readonly models: readonly string[];
  readonly operations: readonly Operation[] | null;
  readonly addresses: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly capture: string | null;
  readonly shape: RerankShape | null;
}

export interface KeyTerms {
  parseNew(document: unknown, nowMs: number): ParsedTerms<NewKeyTerms>;
  /** Only what is in the document, each field as a whole; null takes away what is there. */
  parseChange(document: unknown, before: Pick<KeyRecord, 'caps'>, nowMs: number): ParsedTerms<KeyChange>;
  parseOverlap(text: string): number | { readonly fault: string };
  describe(key: Omit<KeyRecord, 'id' | 'managedBy' | 'expiresAtMs' | 'revokedAtMs'>): KeyTermsDocument;
  describeCaps(caps: Caps): CapsDocument;
  /** Undefined where the project is there; else what is wrong with it. */
  unknownProject(id: string, known: ReadonlySet<string>, whatToDo: string): string | undefined;
  /** What is legal, and yet most often a slip. */
  warnings(key: Pick<KeyRecord, 'models' | 'caps' | 'project'>, snapshot: Snapshot): readonly string[];
  /** Where the file declares the key. */
  placeOf(id: string): Place | undefined;
}
