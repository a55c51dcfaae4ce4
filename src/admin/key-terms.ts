/** What the endpoints ask of whoever knows what a key may be told: the same rules and words as the file and the command line. */

import type { Budget, BudgetPeriod, Caps, Holder } from '../core/caps.ts';
import type { FieldFault } from '../core/field-fault.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Operation } from '../core/operation.ts';
import type { Place } from '../core/resource-desk.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { BudgetAccount, KeyChange, NewKey } from '../core/store.ts';
import type { RerankShape } from '../core/translation.ts';

type NewKeyTerms = Omit<NewKey, 'digest' | 'hint'>;

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
  /** The money of a budget within the period that a moment falls into. */
  account(holder: Holder, budget: Budget, nowMs: number): BudgetAccount;
  /** Where the file declares the key. */
  placeOf(id: string): Place | undefined;
}
