/** Lists the settings of a key, each with its schema, command-line option, stored form and text. */

import * as z from 'zod';
import type { Caps } from '../../../core/caps.ts';
import type { KeyTerms, KeyTermsDocument } from '../../../core/key.ts';
import type { KeyChange } from '../../../core/store/keys.ts';
import { fromMilliseconds } from '../../../lib/quantities.ts';
import { capsFields, describeCaps } from '../caps.ts';
import {
  addressList,
  duration,
  fromEnvironment,
  instant,
  laneField,
  list,
  mapping,
  metadata,
  modelName,
  operationList,
  ownId,
  secretFile,
  secretText,
  shapeField,
  text,
} from '../fields.ts';

const longestCaptureMs = 365 * 86_400_000;

export const keyTermFields = {
  models: list(modelName(), 'a list of model IDs')
    .default(['*'])
    .describe('Allowed models, by public ID; each may hold one `*`.')
    .meta({ kind: 'list of IDs' }),
  operations: operationList().optional().describe('Allowed operations.').meta({ defaultText: 'all' }),
  addresses: addressList()
    .optional()
    .describe('Allowed client addresses: IP addresses and CIDR ranges.')
    .meta({ defaultText: 'anywhere' }),
  expires: instant()
    .optional()
    .describe('Expiry: a date (its start in UTC) or a time with zone.')
    .meta({ defaultText: 'never' }),
  project: ownId().optional().describe('ID of its project, whose limits and budgets apply too.'),
  ...capsFields,
  metadata: metadata().default({}).describe('Your own notes.'),
  lane: laneField(
    'Lane of its calls at a busy upstream: `interactive` goes before `bulk`. A request may choose `interactive` itself only if this is set to `interactive`.',
  ),
  shape: shapeField('Shape of rerank responses and errors, if the request does not set it.'),
  capture: duration(60_000, longestCaptureMs)
    .optional()
    .describe('How long request and response bodies are kept in the ledger, redacted.')
    .meta({ defaultText: 'never' }),
};

export type KeyTermName = keyof typeof keyTermFields;

interface KeyOption {
  readonly option: string;
  /** What the option's value is: a text; a list with commas; or `name=value` pairs, for which the option may be repeated. */
  readonly takes: 'text' | 'list' | 'pairs';
  readonly example: string;
  readonly docs: string;
}

const optionTaking =
  (takes: KeyOption['takes']) =>
  (option: string, example: string, docs: string): KeyOption => ({ option, takes, example, docs });
const [aText, aList, pairs] = [optionTaking('text'), optionTaking('list'), optionTaking('pairs')];

export const keyOptions: Readonly<Record<KeyTermName, KeyOption>> = {
  project: aText('project', 'P', 'its project, whose limits and budgets apply too'),
  models: aList('models', 'a,b', 'IDs of models, each with at most one `*`'),
  operations: aList('operations', 'x,y', 'the operations that it may use'),
  addresses: aList('addresses', 'cidr,..', 'IP addresses and CIDR ranges that it may be used from'),
  expires: aText('expires', '30d|2027-01-01', 'a time from now, or a date such as `2027-01-01`'),
  limits: pairs('limit', 'requests_per_minute=60', "a limit, as in the file's `limits`"),
  budgets: pairs(
    'budget',
    'month=50:80%,100%',
    'US dollars for a `day`, `week`, `month` or in `total`, with alert thresholds in percent',
  ),
  metadata: pairs('metadata', 'name=text', 'your own notes'),
  capture: aText('capture', '7d', 'captures request and response bodies for this time'),
  lane: aText('lane', 'bulk', 'its lane at a busy upstream: `interactive` goes before `bulk`'),
  shape: aText('shape', 'voyage', 'the service that its clients were written for: `cohere`, `jina`, `voyage` or `tei`'),
};

const termsSchema = z.strictObject(keyTermFields);
type WrittenTerms = z.output<typeof termsSchema>;

export function toTerms(written: Omit<WrittenTerms, 'limits' | 'budgets'>, caps: Caps): KeyTerms {
  return {
    models: unique(written.models),
    operations: written.operations && unique(written.operations),
    addresses: written.addresses && unique(written.addresses),
    project: written.project,
    caps,
    metadata: Object.freeze(written.metadata),
    captureMs: written.capture,
    lane: written.lane,
    shape: written.shape,
    expiresAtMs: written.expires,
  };
}

/** The change of a stored key: only the given settings; one that is given without a value is removed. */
export function toChange(terms: KeyTerms, has: (term: KeyTermName) => boolean): Omit<KeyChange, 'name'> {
  return {
    ...(has('models') && { models: terms.models }),
    ...(has('operations') && { operations: terms.operations ?? null }),
    ...(has('addresses') && { addresses: terms.addresses ?? null }),
    ...(has('project') && { project: terms.project ?? null }),
    ...((has('limits') || has('budgets')) && { caps: terms.caps }),
    ...(has('metadata') && { metadata: terms.metadata }),
    ...(has('capture') && { captureMs: terms.captureMs ?? null }),
    ...(has('lane') && { lane: terms.lane ?? null }),
    ...(has('shape') && { shape: terms.shape ?? null }),
    ...(has('expires') && { expiresAtMs: terms.expiresAtMs ?? null }),
  };
}

export function describeKeyTerms(terms: Omit<KeyTerms, 'expiresAtMs'>): KeyTermsDocument {
  return {
    project: terms.project,
    models: [...terms.models],
    operations: terms.operations && [...terms.operations],
    addresses: terms.addresses && [...terms.addresses],
    ...describeCaps(terms.caps),
    metadata: { ...terms.metadata },
    capture: terms.captureMs === undefined ? undefined : fromMilliseconds(terms.captureMs),
    lane: terms.lane,
    shape: terms.shape,
  };
}

function unique<T>(items: readonly T[]): readonly T[] {
  return Object.freeze([...new Set(items)]);
}

export const keySchema = mapping({
  id: ownId().describe('ID of the key.'),
  secret: secretText(24).optional().describe(`The secret that clients send. ${fromEnvironment}`).meta({ secret: true }),
  secret_file: secretFile('secret'),
  secret_sha256: text('64 hexadecimal digits, as sha256sum prints them', /^[0-9a-fA-F]{64}$/)
    .optional()
    .describe('SHA-256 of the secret, in hex, instead of the secret.'),
  ...keyTermFields,
}).refine(({ secret, secret_sha256: digest }) => secret !== undefined || digest !== undefined, {
  path: ['secret'],
  error: 'secret, secret_file or secret_sha256',
});

export type KeyEntry = z.output<typeof keySchema>;
