/** Converts an upstream between its form and the configuration document. Fields that the form lacks are kept. */

import { type FamilyFacts, type LimitName, limitNames } from '../../../../src/admin/contract.ts';
import {
  type Document,
  pick,
  present,
  section,
  toAmount,
  toMapping,
  toText,
  without,
} from '../../parts/forms/documents.ts';
import type { FieldWords } from '../../parts/words/operations.ts';

export const timeoutNames = ['connect', 'first_byte', 'idle', 'total'] as const;
/** The limits that only an upstream has, besides the usual rates. */
const queueNames = [
  'concurrency',
  'min_concurrency',
  'max_concurrency',
  'queue',
  'queue_timeout',
  'bulk_share',
] as const;
export type UpstreamLimitName = LimitName | (typeof queueNames)[number];

export const upstreamLimitNames: readonly UpstreamLimitName[] = [...new Set([...queueNames, ...limitNames])];
export type TimeoutName = (typeof timeoutNames)[number];

export interface KeyValues {
  /** Stays the same while other rows are added and removed. */
  row: string;
  /** The typed secret; empty to keep the stored one. */
  secret: string;
  /** Stands for the stored secret; empty if there is none, or it is to be replaced. */
  kept: string;
  /** A file named on the command line; it stays as it is. */
  file: string;
  weight: number | string;
}

export interface HeaderValues {
  row: string;
  name: string;
  value: string;
  kept: string;
}

/** Settings whose field shows the document's value, under "Answers". */
export const plainFields = {
  answer_limit: { label: 'Longest answer that is read to be translated', placeholder: '64MiB' },
} satisfies Readonly<Record<string, FieldWords>>;

type PlainName = keyof typeof plainFields;
/** Values in place of a list of endpoints. */
const endpointWords: readonly string[] = ['dns', 'srv', 'off'];

const plainNames = Object.keys(plainFields) as PlainName[];

export interface UpstreamValues extends Record<PlainName, string> {
  id: string;
  family: string;
  base_url: string;
  options: Record<string, string>;
  keys: KeyValues[];
  headers: HeaderValues[];
  forward_headers: string[];
  response_headers: string[];
  timeouts: Record<TimeoutName, string>;
  limits: Record<UpstreamLimitName, number | string>;
  pace: string;
  /** One of these words, or addresses. */
  endpoints: string[];
  endpoint_zone: string[];
  tls: { server_name: string };
  health_check: { path: string; interval: string; timeout: string };
  legacy_engines: boolean;
  screensErrorsOnly: boolean;
  base64: boolean;
  rest: Document;
  restOfTls: Document;
}

let rows = 0;
function newRow(): string {
  rows += 1;
  return `row ${rows}`;
}

export const emptyKey = (): KeyValues => ({ row: newRow(), secret: '', kept: '', file: '', weight: 1 });
export const emptyHeader = (): HeaderValues => ({ row: newRow(), name: '', value: '', kept: '' });

export function toValues(document: Document): UpstreamValues {
  const { id, family, base_url, options, api_key, api_key_file, credentials, headers, forward_headers, ...more } =
    document;
  const { timeouts, limits, pace, endpoints, endpoint_zone, tls, health_check, ...further } = more;
  const { legacy_engines, base64, response_headers, screen, ...others } = further;
  const { server_name, ...restOfTls } = toMapping(tls);
  return {
    id: toText(id),
    family: toText(family),
    base_url: toText(base_url),
    options: toTexts(toMapping(options)),
    keys: toKeys({ api_key, api_key_file }, credentials),
    headers: Object.entries(toMapping(headers)).map(([name, value]) => toHeader(name, toText(value))),
    forward_headers: toTextList(forward_headers),
    response_headers: toTextList(response_headers),
    timeouts: pick(timeoutNames, toMapping(timeouts), toText),
    limits: pick(upstreamLimitNames, toMapping(limits), toAmount),
    pace: toText(pace),
    endpoints: typeof endpoints === 'string' ? [endpoints] : toTextList(endpoints),
    endpoint_zone: toTextList(endpoint_zone),
    tls: { server_name: toText(server_name) },
    health_check: pick(['path', 'interval', 'timeout'], toMapping(health_check), toText),
    legacy_engines: legacy_engines === 'native',
    screensErrorsOnly: screen === 'errors',
    base64: base64 === 'convert',
    ...pick(plainNames, others, toText),
    rest: without(others, plainNames),
    restOfTls,
  };
}

/** The first values: the family's defaults are filled in where they have to be seen. */
export function toFirstValues(family: FamilyFacts, id: string): UpstreamValues {
  const values = toValues({ id, family: family.id });
  const options = family.options.map(({ name, default: standard }) => [name, standard ?? '']);
  return {
    ...values,
    base_url: family.baseUrl !== null && !family.baseUrl.includes('{') && family.kind !== 'cloud' ? family.baseUrl : '',
    options: Object.fromEntries(options),
    keys: family.credential === 'none' ? [] : [emptyKey()],
  };
}

const isShown = (text: string): boolean => /^\(sealed(?: [^()]+)?\)$/.test(text);

function toKeys(own: Document, credentials: unknown): KeyValues[] {
  if (!Array.isArray(credentials)) {
    return own.api_key === undefined && own.api_key_file === undefined ? [] : [toKey(own, 'api_key', 1)];
  }
  return credentials.map((entry, index) => {
    const written = toMapping(entry);
    return toKey(written, `credentials[${index}].api_key`, toAmount(written.weight ?? 1));
  });
}

/** A bare `(sealed)` is given its position, so that it may be moved. */
function toKey({ api_key, api_key_file }: Document, place: string, weight: number | string): KeyValues {
  const text = toText(api_key);
  const kept = text === '(sealed)' ? `(sealed ${place})` : isShown(text) ? text : '';
  return { row: newRow(), secret: kept === '' ? text : '', kept, file: toText(api_key_file), weight };
}

const toHeader = (name: string, text: string): HeaderValues => ({
  row: newRow(),
  name,
  value: isShown(text) ? '' : text,
  kept: isShown(text) ? text : '',
});

/** Leaves out what has no value, so that the document stays short. */
export function toDocument(values: UpstreamValues, family: FamilyFacts | undefined): Document {
  const { rest, restOfTls, base_url, forward_headers, response_headers, tls, health_check } = values;
  const headers = Object.fromEntries(
    values.headers
      .filter(({ name }) => name.trim() !== '')
      .map(({ name, value, kept }) => [name.trim(), value === '' ? kept : value]),
  );
  return {
    ...rest,
    id: values.id.trim(),
    family: values.family,
    ...(base_url.trim() !== '' && base_url.trim() !== family?.baseUrl && { base_url: base_url.trim() }),
    ...section('options', toOptions(values.options, family)),
    ...toCredentials(values.keys),
    ...section('headers', headers),
    ...(forward_headers.length > 0 && { forward_headers }),
    ...(response_headers.length > 0 && { response_headers }),
    ...section('timeouts', present(values.timeouts)),
    ...section('limits', present(values.limits)),
    ...(values.pace.trim() !== '' && { pace: values.pace.trim() }),
    ...toEndpoints(values.endpoints),
    ...(values.endpoint_zone.length > 0 && { endpoint_zone: values.endpoint_zone }),
    ...section('tls', { ...restOfTls, ...present(tls) }),
    ...(health_check.path.trim() !== '' && { health_check: present(health_check) }),
    ...(values.legacy_engines && { legacy_engines: 'native' }),
    ...(values.base64 && { base64: 'convert' }),
    ...(values.screensErrorsOnly && { screen: 'errors' }),
    ...present(pick(plainNames, { ...values }, toText)),
  };
}

function toEndpoints(endpoints: readonly string[]): Document {
  const [only = ''] = endpoints;
  if (endpoints.length === 0) return {};
  return { endpoints: endpoints.length === 1 && endpointWords.includes(only) ? only : endpoints };
}

/** Leaves out defaults. */
function toOptions(written: Readonly<Record<string, string>>, family: FamilyFacts | undefined): Document {
  const standards = new Map(family?.options.map((option) => [option.name, option.default]));
  return Object.fromEntries(
    Object.entries(written).filter(([name, value]) => value.trim() !== '' && value !== standards.get(name)),
  );
}

function toCredentials(keys: readonly KeyValues[]): Document {
  const written = keys.filter(({ secret, kept, file }) => secret !== '' || kept !== '' || file !== '');
  const [only] = written;
  if (only === undefined) return {};
  if (written.length === 1) return toCredential(only);
  return { credentials: written.map((key) => ({ ...toCredential(key), weight: key.weight === '' ? 1 : key.weight })) };
}

function toCredential({ secret, kept, file }: KeyValues): Document {
  if (secret !== '') return { api_key: secret };
  return file === '' ? { api_key: kept } : { api_key_file: file };
}

/** The form field for a field of the API. */
export function toField(path: string): string {
  if (path === 'api_key' || path === 'api_key_file') return 'keys[0].secret';
  const index = /^credentials\[(\d+)\]\./.exec(path)?.[1];
  if (index !== undefined) return path.endsWith('.weight') ? `keys[${index}].weight` : `keys[${index}].secret`;
  const list = /^(forward_headers|response_headers|endpoints|endpoint_zone)\[/.exec(path)?.[1];
  if (list !== undefined) return list;
  return path.startsWith('headers.') ? 'headers' : path;
}

const toTextList = (value: unknown): string[] => (Array.isArray(value) ? value.map(toText) : []);
const toTexts = (mapping: Document): Record<string, string> =>
  Object.fromEntries(Object.entries(mapping).map(([name, value]) => [name, toText(value)]));
