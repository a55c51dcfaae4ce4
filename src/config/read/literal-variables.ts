/** Finds values that name a variable of the environment in another program's syntax, and would be taken literally. */

import type { FaultList, Path } from './faults.ts';
import type { Substitution } from './substitute.ts';

/** `$NAME`, alone or as a part of a URL or of a header; and what other gateways and shells have in its place. */
const variable =
  /(?:^|[\s:@/])\$[A-Z_][A-Z0-9_]{2,}(?=$|[\s:@/])|^(?:os\.environ\/\w+|process\.env\.\w+|\$env:\w+|\$\(\w+\)|%[A-Z_][A-Z0-9_]*%|\{\{\s*\w+\s*\}\})$/;

/** Of all that is taken for a variable, one of these is a part. */
const mayNameVariable = /[$%{]|^os\.|^process\./;

/** What stands under these is nobody's to read but a service's, or a person's. */
const freeText = new Set<string | number>(['defaults', 'metadata']);

export function checkLiteralVariables(
  value: unknown,
  path: Path,
  context: { readonly faults: FaultList; readonly isSubstituted: Substitution['isSubstituted'] },
): void {
  if (!mayHoldVariable(value)) return;
  if (typeof value === 'string') {
    if (!variable.test(value) || context.isSubstituted(path)) return;
    context.faults.add(
      path,
      `names a variable and is taken as it stands; write \${NAME} to read the environment, with the variable's own name`,
    );
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [step, inner] of entries) {
    if (!freeText.has(step)) checkLiteralVariables(inner, [...path, step], context);
  }
}

function mayHoldVariable(value: unknown): boolean {
  if (typeof value === 'string') return mayNameVariable.test(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(mayHoldVariable);
}
