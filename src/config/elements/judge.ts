/** Validates one part of the file against its schema: reports every fault and returns the valid rest. */

import * as z from 'zod';
import { nearestName, nearHint, toHint } from '../../lib/nearest-name.ts';
import { holdsProtoKey, takeOutProtoKeys } from '../../lib/proto-keys.ts';
import type { FaultList, Path } from '../read/faults.ts';
import type { Substitution } from '../read/substitute.ts';
import { isSecretAt, keysAt, schemaAt, wantsScalar } from './schema-lookup.ts';

interface JudgeContext {
  readonly faults: FaultList;
  readonly isSubstituted: Substitution['isSubstituted'];
}

/** The valid part of a value. After faulty parts are removed the rest is validated again, so that one run reports all faults. */
export function judge<T extends z.ZodType>(
  schema: T,
  input: unknown,
  at: Path,
  context: JudgeContext,
): z.output<T> | undefined {
  if (!holdsProtoKey(input)) {
    const fitting = schema.safeParse(input);
    if (fitting.success) return fitting.data;
  }
  const value: unknown = structuredClone(input);
  for (const path of takeOutProtoKeys(value)) context.faults.add([...at, ...path], 'unknown key');
  const part: Part = { value };
  let first = true;
  for (;;) {
    const result = schema.safeParse(part.value);
    if (result.success) return result.data;
    const issues = result.error.issues.flatMap(unfold);
    if (settle(issues, part, at, context)) continue;
    if (first) for (const issue of issues) report(schema, issue, part.value, at, context);
    first = false;
    if (!prune(issues, part)) return undefined;
  }
}

interface Part {
  value: unknown;
}

type Issue = z.core.$ZodIssue;

/** The faults inside a union's member, for the only member whose shape the value has. */
function unfold(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const fitting = issue.errors.filter((issues) => issues.every(isInside));
  const [inside, ...others] = fitting;
  if (inside === undefined || others.length > 0) return [issue];
  return inside.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(unfold);
}

function isInside({ path, code }: Issue): boolean {
  return path.length > 0 || code === 'unrecognized_keys';
}

/** Repairs what needs no report: text from the environment becomes the expected number or boolean, an empty section is removed. */
function settle(issues: readonly Issue[], part: Part, at: Path, context: JudgeContext): boolean {
  let changed = false;
  for (const issue of issues) {
    const path = toPath(issue.path);
    const value = valueAt(part.value, path);
    if (value === null && expectedKinds(issue).some((kind) => ['object', 'array', 'record'].includes(kind))) {
      changed = remove(part.value, path) || changed;
    } else if (typeof value === 'string' && context.isSubstituted([...at, ...path])) {
      const spelled = spelledAs(value, expectedKinds(issue));
      changed = (spelled !== undefined && replace(part.value, path, spelled)) || changed;
    }
  }
  return changed;
}

function expectedKinds(issue: Issue): string[] {
  if (issue.code === 'invalid_type') return [issue.expected];
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(expectedKinds) : [];
}

function spelledAs(text: string, kinds: readonly string[]): number | boolean | undefined {
  if (kinds.includes('boolean') && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  const number = kinds.includes('number') || kinds.includes('int');
  return number && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** Advice for a list of fallbacks beside the model, as other gateways have it. */
const fallbackHint =
  '; a fallback is a target with a later priority, such as targets: [{ upstream: a }, { upstream: b, priority: 1 }]';

function report(
  schema: z.ZodType,
  issue: Issue,
  input: unknown,
  at: Path,
  { faults, isSubstituted }: JudgeContext,
): void {
  const path = toPath(issue.path);
  const fullPath = [...at, ...path];
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    const otherwise = known.length > 0 ? `; known here: ${known.join(', ')}` : '';
    for (const key of issue.keys) {
      const isFallback = key === 'fallbacks' && known.includes('targets');
      faults.add([...fullPath, key], `unknown key${isFallback ? fallbackHint : nearHint(key, known, otherwise)}`);
    }
    return;
  }
  const value = valueAt(input, path);
  if (value === undefined) {
    faults.add(fullPath, `is missing; wanted: ${wanted(issue)}`);
    return;
  }
  const mayShow = wantsScalar(schema, path) && !isSecretAt(schema, path) && !isSubstituted(fullPath);
  const near = mayShow && typeof value === 'string' ? nearestName(value, namesWanted(issue)) : undefined;
  const hint = quoteHint(schemaAt(schema, path), value) + toHint(near);
  faults.add(fullPath, `wanted: ${wanted(issue)}; came: ${came(value, mayShow)}${hint}`);
  // The part is removed from here on, but must not be reported as missing.
  faults.hush(fullPath);
}

function namesWanted(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return issue.code === 'invalid_union' ? issue.errors.flat().flatMap(namesWanted) : [];
}

/** The part of an issue that says what is expected: messages of our own schemas are only that, such as `a number`. */
function wanted(issue: Issue): string {
  if (!issue.message.startsWith('Invalid input')) return issue.message;
  return issue.code === 'invalid_type' && issue.expected === 'array' ? 'a list' : 'a mapping of keys to values';
}

/** Advice for a number or boolean that would be valid in quotes, such as `id: 4`. */
function quoteHint(schema: z.core.$ZodType | undefined, value: unknown): string {
  if (schema === undefined || (typeof value !== 'number' && typeof value !== 'boolean')) return '';
  return z.safeParse(schema, String(value)).success ? '; put it in quotes to make it text' : '';
}

const longestShown = 60;

function came(value: unknown, mayShow: boolean): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (value === '') return 'an empty text';
  if (!mayShow || String(value).length > longestShown)
    return typeof value === 'string' ? `other text, of ${value.length} characters` : `a ${typeof value}`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Faulty parts are unknown or faulty keys, and mappings that lack a key. Returns whether anything was removed. */
function prune(issues: readonly Issue[], part: Part): boolean {
  let pruned = false;
  for (const issue of issues) {
    const path = toPath(issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) pruned = remove(part.value, [...path, key]) || pruned;
    } else {
      let length = path.length;
      while (length > 0 && !remove(part.value, path.slice(0, length))) length--;
      pruned ||= length > 0;
    }
  }
  return pruned;
}

function toPath(path: readonly PropertyKey[]): Path {
  return path.filter((step) => typeof step !== 'symbol');
}

export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

function replace(root: unknown, path: Path, value: unknown): boolean {
  const step = path.at(-1);
  const parent = valueAt(root, path.slice(0, -1));
  return step !== undefined && typeof parent === 'object' && parent !== null && Reflect.set(parent, step, value);
}

/** Removes a key of a mapping. Elements of lists stay, because removing one would shift the others. */
function remove(root: unknown, path: Path): boolean {
  const step = path.at(-1);
  const parent = valueAt(root, path.slice(0, -1));
  if (typeof step !== 'string' || typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, step))
    return false;
  return Reflect.deleteProperty(parent, step);
}
