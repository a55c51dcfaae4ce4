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

/** Whether a text must be encrypted, by its schema: an upstream's address only if it may contain a credential, a webhook's always. */
function isSecret(kind: ResourceKind, path: Path, text: string): boolean {
  const schema = schemaAt(resourceSchemas[kind], path);
  const facts = schema instanceof z.ZodType ? schema.meta() : undefined;
  if (facts?.secret !== true) return false;
  if (sealedUnder(text) !== undefined || isShownSecret(text)) return true;
  const isAddress = facts.kind === 'URL' || facts.kind === 'path';
  return isAddress && kind !== 'setting' ? /[@?#]/.test(text) : text !== '';
}

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

/** The location that an encrypted text is bound to, so that it cannot be moved elsewhere. */
function locationOf({ kind, id }: ResourceName, path: Path): string {
  return `${kind}/${encodeURIComponent(id)}/${toPathText(path)}`;
}

export type Sealing =
  | { readonly document: ResourceDocument }
  | { readonly faults: readonly { readonly path: Path; readonly message: string }[] };

/** The text that people see in place of a secret. In a list it names the element, such as `(sealed credentials[1].api_key)`. */
const shownSecret = /^\(sealed(?: (api_key|(credentials|webhooks)\[(\d{1,4})\]\.(api_key|url|secret)))?\)$/;

const isShownSecret = (text: string): boolean => shownSecret.test(text);

function toShownSecret(path: Path): string {
  return path.some((step) => typeof step === 'number') ? `(sealed ${toPathText(path)})` : hiddenSecret;
}

/** Undefined where the masked text may stand for several secrets. */
function pathMeant(text: string, path: Path): Path | undefined {
  const [, sealedPath, list, index, field = 'api_key'] = shownSecret.exec(text) ?? [];
  if (sealedPath === undefined) return path.some((step) => typeof step === 'number') ? undefined : path;
  // Elements of a list may be reordered, but not moved to another field.
  if (path.at(-1) !== field) return undefined;
  return list === undefined ? [field] : [list, Number(index), field];
}

/** Encrypts all secrets. `(sealed)` keeps the secret of `previous`, which is encrypted again where it has moved. */
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

/** The document with its secrets decrypted; one that cannot be decrypted is reported and stays as it is. */
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

/** The document as people see it, with `(sealed)` in place of each secret. */
export function hideSecrets(kind: ResourceKind, document: ResourceDocument): ResourceDocument {
  return mapSecrets(kind, document, (_text, path) => toShownSecret(path));
}

/** A value that consists only of a reference to the environment, without a default, so that it reveals nothing. */
const fromEnvironment = /^(?:[A-Za-z][A-Za-z0-9-]* )?\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

/** An element of a file as people see it: secrets are hidden, except those that are only a reference. */
export function hideWritten(kind: ResourceKind, document: ResourceDocument): ResourceDocument {
  return mapSecrets(kind, document, (text) => (fromEnvironment.test(text) ? text : hiddenSecret));
}

/** For each secret of a document, the ID of the key that encrypts it; undefined for one that is not encrypted. */
export function sealsOf(kind: ResourceKind, document: ResourceDocument): (string | undefined)[] {
  const seals: (string | undefined)[] = [];
  mapSecrets(kind, document, (text) => {
    seals.push(sealedUnder(text));
    return text;
  });
  return seals;
}
