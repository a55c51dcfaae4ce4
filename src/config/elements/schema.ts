/** Defines the schema of the configuration file, from which validation, JSON Schema and the reference in the docs derive. */

import * as z from 'zod';
import { alertsSchema } from './alerts.ts';
import { consoleSchema } from './console.ts';
import { defaultModelSchema } from './default-model.ts';
import { filePath, list, mapping } from './fields.ts';
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

/** The schema of everything except the elements of the lists, which are validated one by one. */
export const settingsSchema = mapping({
  $schema: z.string({ error: 'text' }).optional().describe('JSON Schema, for editors.'),
  include: list(filePath(), 'a list of names of files')
    .default([])
    .describe(
      'Further files, by name or pattern such as `conf.d/*.yaml`. Their lists are appended; any other section may be in one file only.',
    ),
  server: serverSchema.prefault({}).describe('The gateway itself.'),
  console: consoleSchema.prefault({}).describe('The admin listener: metrics, the admin API and the console.'),
  ...storeFields,
  ledger: ledgerSchema.prefault({}).describe('The ledger.'),
  metrics: metricsSchema.prefault({}).describe('Keys and projects that have their own metrics.'),
  log: logSchema.prefault({}).describe('The log. See [logging](logging.md).'),
  otel: otelSchema
    .optional()
    .describe('Export of traces and metrics. See [OpenTelemetry](../guides/opentelemetry.md).'),
  alerts: alertsSchema.prefault({}).describe('Budget alerts, beside the log.'),
  upstream_addresses: upstreamAddressesSchema
    .prefault({})
    .describe('Allowed addresses of upstreams in the store. See [address policy](../guides/upstream-addresses.md).'),
  upstreams: anything,
  models: anything,
  projects: anything,
  keys: anything,
  routes: anything,
  default_model: defaultModelSchema
    .prefault({})
    .describe('Model by operation, for requests without one. Off by default.'),
});

export const configurationSchema = settingsSchema.extend({
  upstreams: list(upstreamSchema).default([]).describe('Upstream services.'),
  models: list(modelSchema).default([]).describe('Models that clients can use.'),
  projects: list(projectSchema).default([]).describe('Groups of keys with common limits and budgets.'),
  routes: list(routeSchema).default([]).describe('Custom routes. See [custom routes](../guides/custom-routes.md).'),
  keys: list(keySchema).default([]).describe('Client keys. More can be made with `postern keys create`.'),
});

export type Settings = z.output<typeof settingsSchema>;
