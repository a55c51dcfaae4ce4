/** Families as people choose among them, and as forms are drawn from. */

import * as z from 'zod';
import { labels } from '../../../core/label.ts';
import { operations } from '../../../core/operations/index.ts';
import { defineEndpoint } from '../../endpoint.ts';

const option = z.object({
  name: z.string(),
  description: z.string(),
  values: z.array(z.string()).nullable().meta({ description: 'What it may be, where not any text.' }),
  pattern: z.string().nullable().meta({ description: 'A regular expression.' }),
  form: z.string().nullable().meta({ description: 'What fits the pattern, for people.' }),
  default: z.string().nullable(),
  required: z.boolean(),
});

const offer = z.object({
  label: z.enum(labels),
  operation: z.enum(operations),
  path: z.string(),
  way: z.enum(['passes', 'adapts', 'translated', 'made here']).meta({
    description: 'Bytes pass; pass save for what would be misread; are translated; or answers are made here.',
  }),
  facts: z.string().nullable(),
});

const startingModel = z.object({ id: z.string(), operations: z.array(z.enum(operations)) });

export const family = z.object({
  id: z.string(),
  title: z.string(),
  kind: z.enum(['built-in', 'own-server', 'service', 'cloud']).meta({
    description:
      'Part of the gateway; a server of one’s own; a service at one address; or one with an address for each account or region.',
  }),
  baseUrl: z
    .string()
    .nullable()
    .meta({ description: 'Its usual address; an option’s name in braces stands for its value.' }),
  /** Whether an address has to be written. */
  needsAddress: z.boolean(),
  credential: z
    .enum(['none', 'key', 'document', 'signed'])
    .meta({ description: 'None; an API key; a document such as a service account’s; or a key that signs each call.' }),
  /** Of the credential, with standard options. */
  header: z.string().nullable(),
  options: z.array(option),
  offers: z.array(offer),
  listsModels: z.boolean(),
  bridges: z.boolean().meta({ description: 'Whether it can serve further operations by way of chat.' }),
  takesLegacyEngines: z.boolean(),
  builtIn: z.array(startingModel),
  starter: z.object({ apiKeyEnv: z.string(), models: z.array(startingModel) }).nullable(),
});

const familyList = z.object({ items: z.array(family) });

export const listFamilies = defineEndpoint({
  method: 'GET',
  path: '/api/families',
  summary: 'List the families of upstreams, with what each needs and offers',
  tag: 'Upstreams',
  needs: 'viewer',
  answer: familyList,
});
