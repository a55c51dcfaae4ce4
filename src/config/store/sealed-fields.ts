/** Finds the secrets in a document for the store, and encrypts, decrypts and masks them. */

import * as z from 'zod';
import type { ResourceKind } from '../../core/store/resources.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { type KeyRing, sealedUnder } from '../../lib/secrets/sealed.ts';
import { valueAt } from '../elements/judge.ts';
import { schemaAt } from '../elements/schema-lookup.ts';
import { type Path, toPathText } from '../read/faults.ts';
import { OwnedTree, textsIn } from '../read/tree.ts';
import { resourceSchemas } from './resource-schemas.ts';

export type ResourceDocument = Readonly<Record<string, unknown>>;

export interface ResourceName {
  readonly kind: ResourceKind;
  readonly id: string;
}

const hiddenSecret = '(sealed)';

export const howToSeal =
  'set POSTERN_SECRET_KEY (or POSTERN_SECRET_KEY_FILE) to a key such as "openssl rand -hex 32" makes, the same on every node';

/** A text that the schema marks as secret; an address only if it may hold more. A webhook's path is one, as knowing it suffices to post. */
function isSecret(kind: ResourceKind, path: Path, text: string): boolean {
  const schema = schemaAt(resourceSchemas[kind], path);
  const facts = schema instanceof z.ZodType ? schema.meta() : undefined;
  if (facts?.secret !== true) return false;
  if (sealedUnder(text) !== undefined || isShownSecret(text)) return true;
  const isAddress = facts.kind === 'URL' || facts.kind === 'path';
  return isAddress && kind !== 'setting' ? /[@?#]/.test(text) : text !== '';
}

/** Applies `change` to each secret. */
function mapSecrets(
  kind: ResourceKind,
  document: ResourceDocument,
  change: (text: string, path: Path) => string,
): ResourceDocument {
  const own = new OwnedTree(document);
  for (const { path, text } of textsIn(document, [], { fits: () => true })) {
    if (isSecret(kind, path, text)) own.put(path, change(text, path));
  }
  return isMapping(own.tree) ? own.tree : document;
}

/** The location that an encrypted text is bound to. */
function locationOf({ kind, id }: ResourceName, path: Path): string {
  return `${kind}/${encodeURIComponent(id)}/${toPathText(path)}`;
}

export type Sealing =
  | { readonly document: ResourceDocument }
  | { readonly faults: readonly { readonly path: Path; readonly message: string }[] };

/** In lists it names the element, as several could be confused: `(sealed credentials[1].api_key)`. */
const shownSecret = /^\(sealed(?: (api_key|(credentials|webhooks)\[(\d{1,4})\]\.(api_key|url|secret)))?\)$/;

const isShownSecret = (text: string): boolean => shownSecret.test(text);

function toShownSecret(path: Path): string {
  return path.some((step) => typeof step === 'number') ? `(sealed ${toPathText(path)})` : hiddenSecret;
}

/** The path that such a text refers to; undefined where it is ambiguous. */
function pathMeant(text: string, path: Path): Path | undefined {
  const [, sealedPath, list, index, field = 'api_key'] = shownSecret.exec(text) ?? [];
  if (sealedPath === undefined) return path.some((step) => typeof step === 'number') ? undefined : path;
  // Elements of a list may be reordered, but not moved to another field.
  if (path.at(-1) !== field) return undefined;
  return list === undefined ? [field] : [list, Number(index), field];
}

/** Encrypts all secrets. `(sealed)` keeps the value in `previous`. Texts are bound to their location: a moved one is encrypted again. */
export function sealDocument(
  name: ResourceName,
  document: ResourceDocument,
  ring: KeyRing | undefined,
  previous: ResourceDocument | undefined,
): Sealing {
  const faults: { path: Path; message: string }[] = [];
  function keptSecret(text: string, path: Path): string | undefined {
    const from = pathMeant(text, path);
    const kept = from && textAt(previous, from);
    if (from === undefined || kept === undefined || toPathText(from) === toPathText(path)) return kept;
    const opened = ring?.unseal(kept, locationOf(name, from));
    return opened?.kind === 'opened' ? ring?.seal(opened.plain, locationOf(name, path)) : undefined;
  }
  const sealed = mapSecrets(name.kind, document, (text, path) => {
    if (isShownSecret(text)) {
      const kept = keptSecret(text, path);
      if (kept !== undefined) return kept;
      faults.push({ path, message: `stands for a secret that is not known here; write the secret itself` });
    } else if (ring === undefined) {
      faults.push({ path, message: `is a secret, and there is no key to seal it with: ${howToSeal}` });
    } else {
      return ring.seal(text, locationOf(name, path));
    }
    return text;
  });
  return faults.length > 0 ? { faults } : { document: sealed };
}

function textAt(document: unknown, path: Path): string | undefined {
  const value = valueAt(document, path);
  return typeof value === 'string' ? value : undefined;
}

/** Decrypts everything; failures are reported, and their texts stay. */
export function openDocument(
  name: ResourceName,
  document: ResourceDocument,
  ring: KeyRing | undefined,
  report: (path: Path, message: string) => void,
): ResourceDocument {
  return mapSecrets(name.kind, document, (text, path) => {
    const keyId = sealedUnder(text);
    if (keyId === undefined) return text;
    if (ring === undefined) {
      report(path, `is sealed under the key ${keyId}, and POSTERN_SECRET_KEY is not set; set it to that key`);
      return text;
    }
    const opened = ring.unseal(text, locationOf(name, path));
    if (opened.kind === 'opened') return opened.plain;
    report(
      path,
      opened.kind === 'unknown-key'
        ? `is sealed under the key ${keyId}, and POSTERN_SECRET_KEY holds ${ring.keyIds.join(', ')}; write it as "<key ${[...ring.keyIds, keyId].join('>,<key ')}>": the first seals, the others open`
        : 'cannot be decrypted: it was changed, or encrypted for another field; write the secret again',
    );
    return text;
  });
}

/** As shown to people. */
export function hideSecrets(kind: ResourceKind, document: ResourceDocument): ResourceDocument {
  return mapSecrets(kind, document, (_text, path) => toShownSecret(path));
}

/** A value that is entirely from the environment reveals nothing; a default in it would. */
const fromEnvironment = /^(?:[A-Za-z][A-Za-z0-9-]* )?\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

/** The same for elements of a file, where a secret may be just a reference. */
export function hideWritten(kind: ResourceKind, document: ResourceDocument): ResourceDocument {
  return mapSecrets(kind, document, (text) => (fromEnvironment.test(text) ? text : hiddenSecret));
}

/** The key that encrypts each of its secrets; undefined for an unencrypted one. */
export function sealsOf(kind: ResourceKind, document: ResourceDocument): (string | undefined)[] {
  const seals: (string | undefined)[] = [];
  mapSecrets(kind, document, (text) => {
    seals.push(sealedUnder(text));
    return text;
  });
  return seals;
}
