/** Client API of Gemini: embeddings over every family; errors in Google's shape. */

import { defineClientApi } from '../core/client-api.ts';
import type { Label } from '../core/label.ts';
import { JsonNumber, type JsonObject } from '../lib/json/json-text.ts';
import { embedMany, embedOne } from './gemini-embeddings.ts';
import { models, oneModel } from './gemini-models.ts';

/** The names of google.rpc.Code. */
const words: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const wordFor = (status: number): string => words[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');

const type = 'type.googleapis.com/google.rpc';

const labels: readonly Label[] = ['gemini', 'interactions'];

export default defineClientApi({
  id: 'gemini',
  title: 'the Gemini API',
  prefix: '/gemini',
  labels,
  grounds: ['/v1beta/'],
  mappings: [embedOne, embedMany],
  fixedEndpoints: [models, oneModel],
  standsFor({ path, label }) {
    return labels.includes(label) ? [`/gemini${path}`, `/gemini${path.replace('/v1beta/', '/v1/')}`] : [];
  },
  error({ status, message, code, param, retryAfter }) {
    const details: JsonObject[] = [];
    if (code !== undefined) {
      const metadata = param === undefined || param === null ? {} : { metadata: { param } };
      details.push({ '@type': `${type}.ErrorInfo`, reason: code.toUpperCase(), domain: 'postern', ...metadata });
    }
    if (retryAfter !== undefined && /^\d+$/.test(retryAfter)) {
      details.push({ '@type': `${type}.RetryInfo`, retryDelay: `${retryAfter}s` });
    }
    return { error: { code: new JsonNumber(String(status)), message, status: wordFor(status), details } };
  },
});
