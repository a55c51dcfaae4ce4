/** An element of `routes`, key by key. */

import type * as z from 'zod';
import { duration, flag, is, list, mapping, modelName, oneOf, ownId, text, wholeNumber } from '../fields.ts';

const pathText = (wants: string) => text(wants, /^(?:\/(?:\{model\}|(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~:-]+))+$/);
const wantedPath = 'a path such as /v1/parse, of letters, digits and . _ ~ : -, where {model} may stand for a segment';
const placeText = () =>
  text('names with dots between, such as usage.pages', /^[^.*\p{Cc}]+(?:\.[^.*\p{Cc}]+){0,7}$/u).optional();
const mostTokens = 1_000_000_000;
const wantedModel = 'a mapping with one of field, header and id';

const modelPlace = mapping({
  field: text('the name of a field, of letters, digits and _', /^\w{1,64}$/)
    .optional()
    .meta(is('The field of the body that names it, or the part of a form.')),
  header: text('the name of a header', /^[A-Za-z0-9-]{1,64}$/)
    .transform((name) => name.toLowerCase())
    .optional()
    .meta(is("The header that names it; to the upstream it has the upstream's name.")),
  id: modelName().optional().meta(is('The model of all its requests, which name none.')),
}).refine((written) => Object.values(written).filter((one) => one !== undefined).length === 1, {
  error: wantedModel,
  when: ({ issues }) => issues.length === 0,
});

const names = () => list(text('a name', /^[\w.[\]-]{1,64}$/), 'a list of names');

export const routeSchema = mapping({
  path: pathText(wantedPath).meta(
    is('What clients call, under `server.base_path`. It may be no path that Postern has.'),
  ),
  method: oneOf(['POST', 'GET']).default('POST').meta(is('How they call it.')),
  to: pathText(wantedPath)
    .optional()
    .meta(
      is('The path at the upstream, behind that of its `base_url`.', {
        defaultText: '`path`, without a `/v1` that it begins with',
      }),
    ),
  upstreams: list(ownId(), 'a list of IDs of upstreams')
    .optional()
    .meta(is('The only upstreams that it may go to.', { defaultText: "those of the model's targets" })),
  label: ownId().default('own').meta(is('What ledger and log call it.')),
  model: modelPlace.optional().meta(
    is('Where a request names its model.', {
      kind: 'mapping',
      defaultText: '`{model}` where the path has it, else the field `model`',
    }),
  ),
  form: flag().default(false).meta(is('It takes forms (multipart/form-data) beside JSON.')),
  query: names().default([]).meta(is('The query parameters that are sent on; any other is dropped.')),
  usage: mapping({
    input: placeText().meta(is('Where the answer counts input tokens.')),
    output: placeText().meta(is('Where it counts output tokens.')),
    units: placeText().meta(is('Where it counts what `price.search_unit` is for, such as pages.')),
  })
    .refine((written) => Object.values(written).some((place) => place !== undefined), {
      error: 'at least one of input, output and units',
      when: ({ issues }) => issues.length === 0,
    })
    .optional()
    .meta(
      is('Where a whole answer in JSON says what it counted.', {
        kind: 'mapping',
        defaultText: '`usage` and the like, as services have them',
      }),
    ),
  most: mapping({
    output: wholeNumber(0, mostTokens)
      .optional()
      .meta(is('Output tokens.', { defaultText: '`max_output` of the model' })),
    units: wholeNumber(0, mostTokens).optional().meta(is('Of what `usage.units` counts.')),
  })
    .prefault({})
    .meta(is('What one answer can count at most, for budgets.')),
  timeouts: mapping({
    connect: duration().optional().meta(is('Until the connection is there.')),
    first_byte: duration().optional().meta(is('From the last byte of the request to the first of the answer.')),
    idle: duration().optional().meta(is('Between later bytes.')),
    total: duration().optional().meta(is('All of it.')),
  })
    .prefault({})
    .meta(is('In place of those of the upstream.', { defaultText: 'those of the upstream' })),
});

export type RouteEntry = z.output<typeof routeSchema>;
