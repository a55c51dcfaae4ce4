/** Puts together what the admin API has to know of keys, from the rooms that know it. */

import type { KeyTerms, ParsedTerms } from './admin/key-terms.ts';
import {
  describeCaps,
  describeKeyTerms,
  type Parsed,
  parseKeyChange,
  parseNewKeyTerms,
  parseOverlap,
} from './config/key-terms.ts';
import { modelWarnings, unknownProject, unpricedWarnings } from './config/key-warnings.ts';
import type { LoadedConfiguration } from './config/load.ts';
import { toAccount } from './core/budget-account.ts';

export function createKeyTerms(current: () => LoadedConfiguration): KeyTerms {
  return {
    parseNew: (document, nowMs) => toParsed(parseNewKeyTerms(document, nowMs)),
    parseChange: (document, before, nowMs) => toParsed(parseKeyChange(document, before, nowMs)),
    parseOverlap,
    describe: describeKeyTerms,
    describeCaps,
    unknownProject,
    warnings: (key, snapshot) => [...modelWarnings(key.models, snapshot.models), ...unpricedWarnings(key, snapshot)],
    account: toAccount,
    placeOf(id) {
      const { file, keyLines } = current();
      const line = keyLines.get(id);
      return file === undefined || line === undefined ? undefined : { file, line };
    },
  };
}

function toParsed<T>(parsed: Parsed<T>): ParsedTerms<T> {
  if (parsed.faults === undefined) return parsed;
  return { faults: parsed.faults.map(({ field, message }) => ({ path: field, message })) };
}
