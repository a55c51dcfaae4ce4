/** The configuration file, key by key: validation, JSON Schema and the reference in the documents all derive from this. */

import * as z from 'zod';
import { alertsSchema } from './alerts.ts';
import { consoleSchema } from './console.ts';
import { defaultModelSchema } from './default-model.ts';
import { filePath, is, list, mapping } from './fields.ts';
import { keySchema } from './key/terms.ts';
import { ledgerSchema } from './ledger.ts';
import { logSchema, metricsSchema, otelSchema } from './log.ts';
import { modelSchema } from './model/schema.ts';
import { projectSchema } from './project.ts';
import { routeSchema } from './route.ts';
import { serverSchema } from './server/schema.ts';
import { storeFields } from './store.ts';
import { upstreamAddressesSchema } from './upstream/addresses.ts';
import { upstreamSchema } from './upstream/schema.ts';

const anything = list(z.unknown()).default([]);

/** Everything but what is inside the three lists, whose elements are judged one by one. */
export const settingsSchema = mapping({
  $schema: z.string({ error: 'text' }).optional().meta(is('Where editors find the schema of this file.')),
  include: list(filePath(), 'a list of names of files')
    .default([])
    .meta(
      is(
        'Further files, named or by a pattern such as `conf.d/*.yaml`. Their lists are added to those of this file; any other section stands in one file.',
        { kind: 'list of files' },
      ),
    ),
  server: serverSchema.prefault({}).meta(is('The gateway itself.')),
  console: consoleSchema.prefault({}).meta(is('The admin listener: metrics, the admin API and the console.')),
  ...storeFields,
  ledger: ledgerSchema.prefault({}).meta(is('Who asked for what, and what it cost.')),
  metrics: metricsSchema
    .prefault({})
    .meta(is('Keys and projects of which metrics are kept; the ledger has those of all.')),
  log: logSchema.prefault({}).meta(is('What is written to the log, how, and where.')),
  otel: otelSchema
    .optional()
    .meta(is('The collector that traces and metrics are sent to. See [opentelemetry.md](../guides/opentelemetry.md).')),
  alerts: alertsSchema.prefault({}).meta(is('Where operators are told of budgets that run out, beside the log.')),
  upstream_addresses: upstreamAddressesSchema
    .prefault({})
    .meta(
      is(
        'Where upstreams of the store may be, as IP addresses and CIDR ranges; those of this file may be anywhere. See [upstream-addresses.md](../guides/upstream-addresses.md).',
      ),
    ),
  upstreams: anything,
  models: anything,
  projects: anything,
  keys: anything,
  routes: anything,
  default_model: defaultModelSchema
    .prefault({})
    .meta(is('The model of each operation for requests that name none. Off by default.')),
});

export const configurationSchema = settingsSchema.extend({
  upstreams: list(upstreamSchema).default([]).meta(is('The services that calls go to.')),
  models: list(modelSchema).default([]).meta(is('What clients may ask for, and who serves it.')),
  projects: list(projectSchema)
    .default([])
    .meta(is('What several keys have in common: limits and budgets for all of them.')),
  routes: list(routeSchema)
    .default([])
    .meta(is('Routes of your own, whose bytes pass. See [own-routes.md](../guides/custom-routes.md).')),
  keys: list(keySchema)
    .default([])
    .meta(is('The keys that clients come with. Further ones are made with `postern keys create`.')),
});

export type Settings = z.output<typeof settingsSchema>;
