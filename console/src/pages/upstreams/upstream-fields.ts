/** Describes the rarely used fields of an upstream, by the sections of its form. */

import { limitNames } from '../../../../src/admin/contract.ts';
import type { FieldRow, FormField } from '../../parts/forms/documents.ts';
import { limitLabels } from '../../parts/words/caps.ts';

export interface Section {
  readonly name: string;
  readonly title: string;
  readonly about?: string;
  /** Whether the section is about connections, which built-in services do not have. */
  readonly isNetworked?: boolean;
  readonly fields: readonly FieldRow[];
}

/** The number in a text. Other text is kept, so that the gateway reports what it expects. */
const toNumber = (typed: unknown): unknown =>
  typeof typed === 'string' && /^\s*\d{1,15}\s*$/.test(typed) ? Number(typed) : typed;

const limit = (name: string, label: string, placeholder = ''): FormField => ({
  path: `limits.${name}`,
  label,
  placeholder,
  write: toNumber,
  inputMode: placeholder === '' ? 'numeric' : 'text',
});

/** The field for legacy engine paths, which only families that serve them have. */
export const engineField: FormField = {
  path: 'legacy_engines',
  kind: 'switch',
  ticked: 'native',
  label: 'It serves the old path /engines/{model}/embeddings itself',
  description: 'Else the model is put into the body for it, which nearly every service wants.',
};

export const sections: readonly Section[] = [
  {
    name: 'limits',
    title: 'Limits',
    about:
      'How much is sent there, all keys and models together. Left empty: 256 calls at a time, 256 waiting up to 5s, and no limit by the minute or the day.',
    fields: [
      {
        grid: [
          limit('concurrency', 'Calls at a time, or auto', '256'),
          limit('min_concurrency', 'Fewest calls at a time, with auto'),
          limit('max_concurrency', 'Most calls at a time, with auto'),
          limit('queue', 'Calls that may wait, of each lane'),
          limit('queue_timeout', 'How long an interactive call may wait', '5s'),
          limit('bulk_share', 'Share of bulk while interactive calls wait', '10%'),
          ...limitNames.filter((name) => name !== 'concurrency').map((name) => limit(name, limitLabels[name])),
        ],
      },
      {
        path: 'pace',
        label: 'How long a call may wait for a rate limit',
        description: 'In place of an error 429. Left empty: not at all.',
        placeholder: '30s',
      },
    ],
  },
  {
    name: 'timeouts',
    title: 'Timeouts',
    isNetworked: true,
    fields: [
      {
        grid: [
          {
            path: 'timeouts.connect',
            label: 'To connect',
            description: 'To open a connection.',
            placeholder: '2s',
          },
          {
            path: 'timeouts.first_byte',
            label: 'To the first byte',
            description: 'From the question to the beginning of the answer.',
            placeholder: '60s',
          },
          {
            path: 'timeouts.idle',
            label: 'Between bytes',
            description: 'How long an answer may pause.',
            placeholder: '60s',
          },
          { path: 'timeouts.total', label: 'Total', description: 'For the whole call.', placeholder: '300s' },
        ],
      },
    ],
  },
  {
    name: 'headers',
    title: 'Headers',
    about: 'Sent with every call. Their values are sealed like credentials.',
    isNetworked: true,
    fields: [
      {
        path: 'forward_headers',
        kind: 'tags',
        label: 'Headers of clients to let through',
        description: 'By name; press Enter after each. Others never reach the service, save for a few that always do.',
      },
      {
        path: 'response_headers',
        kind: 'tags',
        label: 'Headers of answers to let through',
        description:
          'By name, or by its beginning and a *, such as x-ratelimit-*. Left empty: all that may pass at all.',
      },
    ],
  },
  {
    name: 'endpoints',
    title: 'Endpoints',
    isNetworked: true,
    fields: [
      {
        path: 'endpoints',
        kind: 'tags',
        label: 'Endpoints',
        description:
          'dns or srv to look up all addresses of the host, off for one connection at a time, or addresses such as 10.0.0.7:8080; press Enter after each. Left empty: dns where the host has several private addresses.',
        read: (written) => (typeof written === 'string' ? [written] : written),
        write: (list) =>
          Array.isArray(list) && list.length === 1 && /^(?:dns|srv|off)$/.test(list[0]) ? list[0] : list,
      },
      {
        path: 'endpoint_zone',
        kind: 'tags',
        label: 'Preferred addresses',
        description:
          'Ranges such as 10.1.0.0/16, the subnet of this zone. The others are called when half of these fail.',
      },
    ],
  },
  {
    name: 'health_check',
    title: 'Health check and encryption',
    isNetworked: true,
    fields: [
      {
        path: 'health_check.path',
        label: 'Path of the health check',
        description: 'Asked from time to time; anything below status 300 is a yes. Left empty: no check.',
        placeholder: '/health',
      },
      {
        grid: [
          { path: 'health_check.interval', label: 'How often', placeholder: '10s' },
          { path: 'health_check.timeout', label: 'How long it may take', placeholder: '2s' },
        ],
      },
      {
        path: 'tls.server_name',
        label: 'Name that the certificate must have',
        description:
          'Where it is not the host of the address. An authority of your own is named in the configuration file (tls.ca).',
      },
    ],
  },
  {
    name: 'answers',
    title: 'Answers',
    fields: [
      {
        path: 'answer_limit',
        label: 'Longest answer that is read to be translated',
        placeholder: '64MiB',
      },
      {
        path: 'base64',
        kind: 'switch',
        ticked: 'convert',
        label: 'Make base64 here',
        description: 'Where a client wants vectors in base64 and the service has floats only.',
      },
      {
        path: 'screen',
        kind: 'switch',
        ticked: 'errors',
        label: 'Look for the credential in errors alone',
        description: 'Else in what succeeds, too: an answer that repeats the credential is cut where it begins.',
      },
      engineField,
    ],
  },
];
