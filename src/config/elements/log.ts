/** The section `log`: what is written to the log, how, and where. */

import * as z from 'zod';
import { type LogSettings, logFields, logFormats, logLevels } from '../../core/snapshot.ts';
import { atStart, duration, filePath, fraction, is, mapping, oneOf } from './fields.ts';

const sampled = mapping({
  sample: fraction().default(0).meta(is('Which share of the others.')),
  slow: duration()
    .optional()
    .meta(is('And those that took at least so long.', { kind: 'time', defaultText: 'none' })),
});

const accessWords = ['all', 'errors', 'off'] as const;

export const logSchema = mapping({
  level: oneOf(logLevels).default('info').meta(is('The least that is written.')),
  format: oneOf(logFormats)
    .default('json')
    .meta(is('A line of JSON, or of text for people.', { restart: atStart(({ log }) => log.format) })),
  fields: oneOf(logFields)
    .default('postern')
    .meta(
      is(
        "What the fields of a line of JSON are called: our own names, those of Elastic's schema, or of Google Cloud's.",
        {
          restart: atStart(({ log }) => log.fields),
        },
      ),
    ),
  access: z
    .union([oneOf(accessWords), sampled], {
      error: `one of ${accessWords.join(', ')}, or a mapping with sample and slow`,
    })
    .default('all')
    .meta(
      is('Of which requests a line is written: all, those that failed, or none; with a mapping those that failed and', {
        kind: '`all`, `errors`, `off` or mapping',
      }),
    ),
  file: filePath()
    .optional()
    .meta(
      is('The file that is written to. It is opened anew at `SIGHUP` and `SIGUSR2`, so that it can be moved away.', {
        kind: 'file',
        defaultText: 'standard output',
        restart: atStart(({ log }) => log.file),
      }),
    ),
});

const shares = { all: 1, errors: 0, off: 0 } as const;

export function toLogSettings({ access, file, ...rest }: z.output<typeof logSchema>): LogSettings {
  const rule =
    typeof access === 'string'
      ? { errors: access !== 'off', share: shares[access], slowMs: undefined }
      : { errors: true, share: access.sample, slowMs: access.slow };
  return Object.freeze({ ...rest, file, access: Object.freeze(rule) });
}
