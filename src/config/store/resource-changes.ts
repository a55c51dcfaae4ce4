/** Prepares a change to the store: encrypts it, validates it with the whole configuration, and compares it with the stored version. */

import { isDeepStrictEqual } from 'node:util';
import { type HealthStore, type ReportingNode, reportMaxAgeMs } from '../../core/store/health.ts';
import type { ResourceKind } from '../../core/store/resources.ts';
import type { KeyRing } from '../../lib/secrets/sealed.ts';
import type { FaultyConfiguration, LoadedConfiguration } from '../load.ts';
import { type Fault, type Path, toPathText } from '../read/faults.ts';
import type { Element } from './resources.ts';
import { openDocument, type ResourceDocument, type ResourceName, sealDocument, sealsOf } from './sealed-fields.ts';

type Whole = LoadedConfiguration | FaultyConfiguration;

/** The order of writing: what others refer to comes first, so that a gateway that reads in between finds it. */
export const writingOrder: readonly ResourceKind[] = ['setting', 'project', 'upstream', 'model'];

/** Encrypts an element's secrets. `previous`: the stored, encrypted document. */
export function sealElement(
  element: Element,
  ring: KeyRing | undefined,
  previous: ResourceDocument | undefined,
): { readonly element: Element; readonly faults: readonly Fault[] } {
  const sealing = sealDocument(element, element.document, ring, previous);
  if ('document' in sealing) return { element: { ...element, document: sealing.document }, faults: [] };
  return { element, faults: sealing.faults.map(({ path, message }) => faultIn(element, path, message)) };
}

function faultIn({ root, file }: Element, path: Path, message: string): Fault {
  const at = [...(file?.at ?? []), ...path];
  return { origin: file?.name ?? root, path: toPathText(at), ...file?.positionOf(at), message };
}

interface Change {
  readonly element: Element;
  readonly previous: ResourceDocument | undefined;
}

/** Faults for secrets that some node reports it cannot decrypt: that node would refuse every reload, and not start again. */
export async function keyFaults(
  changes: readonly Change[],
  health: Pick<HealthStore, 'nodes'>,
): Promise<readonly Fault[]> {
  const sealed = changes.flatMap(({ element, previous }) => {
    const known = new Set(previous === undefined ? [] : sealsOf(element.kind, previous));
    const keyIds = new Set(sealsOf(element.kind, element.document));
    return [...keyIds].flatMap((keyId) => (keyId === undefined || known.has(keyId) ? [] : [{ element, keyId }]));
  });
  if (sealed.length === 0) return [];
  const nodes = await health.nodes(reportMaxAgeMs);
  return sealed.flatMap(({ element, keyId }) => {
    const message = lackOf(keyId, nodes);
    return message === undefined ? [] : [faultIn(element, [], message)];
  });
}

/** The fault for a key that some nodes lack; undefined where no node is known to lack it. */
export function lackOf(keyId: string, nodes: readonly ReportingNode[]): string | undefined {
  const lacking = nodes.filter(({ secretKeys }) => secretKeys !== undefined && !secretKeys.includes(keyId));
  if (lacking.length === 0) return undefined;
  const names = lacking.map(({ node, secretKeys = [] }) => `${node} (${secretKeys.join(', ') || 'no key'})`);
  return `would be sealed under the key ${keyId}, which these nodes do not hold: ${names.join('; ')}; give it to them first, as POSTERN_SECRET_KEY="<their key>,<key ${keyId}>", or seal with a key that they hold`;
}

/** The faults that a change adds: older ones must not block somebody who fixes others. */
export function newFaults(before: Whole, next: Whole): Fault[] {
  if (next.ok) return [];
  const known = new Set(before.ok ? [] : before.faults.map(toKey));
  return next.faults.filter((fault) => !known.has(toKey(fault)));
}

const toKey = ({ origin, path, message }: Fault): string => JSON.stringify([origin, path, message]);

/** Compares what the documents contain: encrypting the same text twice gives different results. */
export function isSame(
  name: ResourceName,
  one: ResourceDocument,
  other: ResourceDocument,
  ring: KeyRing | undefined,
): boolean {
  const open = (document: ResourceDocument) => toPlain(openDocument(name, document, ring, () => undefined));
  return isDeepStrictEqual(open(one), open(other));
}

/** A copy of a document with the usual prototype, as comparing and writing need it; other copies have none. */
export function toPlain(document: ResourceDocument): ResourceDocument {
  return JSON.parse(JSON.stringify(document));
}

export interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

interface Shown {
  readonly real: unknown;
  readonly shown: unknown;
}

const anotherSecret = '(another secret)';

export function differencesOf(before: Shown, after: Shown): Difference[] {
  const [was, is, wasShown, isShown] = [before.real, after.real, before.shown, after.shown].map(leavesOf);
  if (was === undefined || is === undefined || wasShown === undefined || isShown === undefined) return [];
  const paths = new Set([...was.keys(), ...is.keys()]);
  return [...paths].flatMap((path): Difference[] => {
    if (isDeepStrictEqual(was.get(path), is.get(path))) return [];
    const one = { path, before: wasShown.get(path), after: isShown.get(path) };
    return [isDeepStrictEqual(one.before, one.after) ? { ...one, after: anotherSecret } : one];
  });
}

function leavesOf(document: unknown): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  function walk(value: unknown, path: Path): void {
    if (value === undefined) return;
    const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (inner.length === 0) leaves.set(toPathText(path), value);
    for (const [step, item] of inner) walk(item, [...path, Array.isArray(value) ? Number(step) : step]);
  }
  walk(document, []);
  return leaves;
}

/** A difference in words, such as `limits.requests_per_minute: 60 -> 70`. */
export function inWords({ path, before, after }: Difference): string {
  const [was, is] = [before, after].map((value) => (value === undefined ? 'nothing' : JSON.stringify(value)));
  return `${path}: ${was} -> ${is}`;
}
