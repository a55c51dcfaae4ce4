/** What of a document may stand in the audit log: everything but secrets, sealed ones too. */

import { isMapping } from '../lib/is-mapping.ts';

const sealed = '(sealed)';

/** Fields that hold a credential by their name, whatever is in them. */
const secretNames = /(^|_)(key|secret|token|password|passphrase)$/i;
/** A reference to the environment is no secret, and says where one comes from. */
const reference = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;

export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('sealed:') ? sealed : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toShown(name, inner)]));
}

function toShown(name: string, value: unknown): unknown {
  if (secretNames.test(name) && typeof value === 'string') return reference.test(value) ? value : sealed;
  // Static headers carry credentials under any name.
  if (name === 'headers' && isMapping(value)) {
    return Object.fromEntries(Object.keys(value).map((header) => [header, sealed]));
  }
  return withoutSecrets(value);
}
