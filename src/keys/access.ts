/** Checks whether a key may make a request; each check throws the error for the client. */

import type { BlockList } from 'node:net';
import { GatewayError } from '../core/errors.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Operation } from '../core/operations/index.ts';
import { includesAddress, toBlockList } from '../lib/addresses/address-range.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { hasValidChecksum } from '../lib/secrets/key-secret.ts';

type UnauthorizedCode = 'missing_api_key' | 'invalid_api_key' | 'expired_api_key' | 'revoked_api_key';

/** Makes a 401 error; all are made by this function, so that none lacks its challenge header. */
export function unauthorized(code: UnauthorizedCode, message?: string): GatewayError {
  const headers = ['WWW-Authenticate', 'Bearer'];
  return new GatewayError(code, message === undefined ? { headers } : { headers, message });
}

/** The error for an unknown key. A wrong checksum shows that it was mistyped or truncated: the message says so. */
export function unknownKey(credential: string): GatewayError {
  const garbled = credential.startsWith('pst_') && !hasValidChecksum(credential);
  return unauthorized(
    'invalid_api_key',
    garbled ? 'This API key was mistyped or cut short (its checksum does not fit); copy it again, whole.' : undefined,
  );
}

export function checkKey(key: KeyRecord, nowMs: number): void {
  if (key.revokedAtMs !== undefined) throw unauthorized('revoked_api_key');
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs) throw unauthorized('expired_api_key');
}

/** Checks that the key may use at least one of the operations. */
export function checkRoute(key: KeyRecord, ...operations: readonly Operation[]): void {
  const allowed = key.operations;
  if (allowed === undefined || operations.some((operation) => allowed.includes(operation))) return;
  throw new GatewayError('route_not_allowed');
}

/** Checks the client's address; an unknown address is refused for a key that is limited to addresses. */
export function checkAddress(key: KeyRecord, address: string | undefined): void {
  if (key.addresses === undefined) return;
  if (address !== undefined && includesAddress(compiledAddresses(key, key.addresses), address)) return;
  throw new GatewayError('ip_not_allowed');
}

/** Whether the key may use a model; `modelId` is the resolved public ID. */
export function mayUseModel(key: KeyRecord, modelId: string): boolean {
  const { all, exact, patterns } = compiledModels(key);
  if (all || exact.has(modelId)) return true;
  return patterns.some(
    ({ start, end }) =>
      modelId.length >= start.length + end.length && modelId.startsWith(start) && modelId.endsWith(end),
  );
}

/** The model IDs that a key lists, exact or with one `*`, prepared for look-ups. */
interface ModelList {
  readonly all: boolean;
  readonly exact: ReadonlySet<string>;
  readonly patterns: readonly { readonly start: string; readonly end: string }[];
}

const modelLists = new WeakMap<KeyRecord, ModelList>();

const compiledModels = (key: KeyRecord): ModelList => getOrMake(modelLists, key, compileModels);

function compileModels(key: KeyRecord): ModelList {
  const exact = new Set<string>();
  const patterns = [];
  for (const id of key.models) {
    const star = id.indexOf('*');
    if (star === -1) exact.add(id);
    else patterns.push({ start: id.slice(0, star), end: id.slice(star + 1) });
  }
  return { all: key.models.includes('*'), exact, patterns };
}

const addressLists = new WeakMap<KeyRecord, BlockList>();

function compiledAddresses(key: KeyRecord, addresses: readonly string[]): BlockList {
  return getOrMake(addressLists, key, () => toBlockList(addresses));
}
