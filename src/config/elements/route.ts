/** Defines and compiles the `routes` section of the configuration: custom routes, which pass requests to one path of an upstream. */

import type * as z from 'zod';
import type { CustomModelSource, CustomRoute } from '../../core/custom-route.ts';
import { labels } from '../../core/label.ts';
import { mayMeanTheSame } from '../../core/paths.ts';
import type { QueryGrammar } from '../../core/query.ts';
import type { ModelIndex, Upstream } from '../../core/snapshot.ts';
import { type CompileContext, type Entry, Location } from './context.ts';
import { duration, flag, laneField, list, mapping, modelName, oneOf, ownId, text, wholeNumber } from './fields.ts';

const pathText = (wants: string) => text(wants, /^(?:\/(?:\{model\}|(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~:-]+))+$/);
const wantedPath = 'a path such as /v1/parse, of letters, digits and . _ ~ : -, where {model} may stand for a segment';
const fieldPath = () =>
  text('names with dots between, such as usage.pages', /^[^.*\p{Cc}]+(?:\.[^.*\p{Cc}]+){0,7}$/u).optional();
const mostTokens = 1_000_000_000;
const wantedModel = 'a mapping with one of field, header and id';

const modelField = mapping({
  field: text('the name of a field, of letters, digits and _', /^\w{1,64}$/)
    .optional()
    .describe('Body field or form part.'),
  header: text('the name of a header', /^[A-Za-z0-9-]{1,64}$/)
    .transform((name) => name.toLowerCase())
    .optional()
    .describe("Header; forwarded with the upstream's name."),
  id: modelName().optional().describe('Fixed model.'),
}).refine((written) => Object.values(written).filter((one) => one !== undefined).length === 1, {
  error: wantedModel,
  when: ({ issues }) => issues.length === 0,
});

const names = () => list(text('a name', /^[\w.[\]-]{1,64}$/), 'a list of names');

export const routeSchema = mapping({
  path: pathText(wantedPath).describe('Path that clients call, under `server.base_path`.'),
  method: oneOf(['POST', 'GET']).default('POST').describe('Method.'),
  to: pathText(wantedPath)
    .optional()
    .describe('Path at the upstream, after `base_url`.')
    .meta({ defaultText: '`path`, without a `/v1` that it begins with' }),
  upstreams: list(ownId(), 'a list of IDs of upstreams')
    .optional()
    .describe('Allowed upstreams.')
    .meta({ defaultText: "those of the model's targets" }),
  label: ownId().default('own').describe('Label in ledger and log.'),
  model: modelField.optional().describe('Where the request names its model.').meta({
    kind: 'mapping',
    defaultText: '`{model}` where the path has it, else the field `model`',
  }),
  lane: laneField('Lane of its calls at a busy upstream: `interactive` goes before `bulk`.'),
  form: flag().default(false).describe('Accepts forms (multipart/form-data) beside JSON.'),
  query: names().default([]).describe('Forwarded query parameters.'),
  usage: mapping({
    input: fieldPath().describe('Input tokens.'),
    output: fieldPath().describe('Output tokens.'),
    units: fieldPath().describe('Units of `price.search_unit`, such as pages.'),
  })
    .refine((written) => Object.values(written).some((field) => field !== undefined), {
      error: 'at least one of input, output and units',
      when: ({ issues }) => issues.length === 0,
    })
    .optional()
    .describe('Where a JSON response reports its counts.')
    .meta({ kind: 'mapping', defaultText: '`usage` and similar' }),
  most: mapping({
    output: wholeNumber(0, mostTokens)
      .optional()
      .describe('Output tokens.')
      .meta({ defaultText: '`max_output` of the model' }),
    units: wholeNumber(0, mostTokens).optional().describe('Units.'),
  })
    .prefault({})
    .describe('Largest counts of one response. Budgets reserve them.'),
  timeouts: mapping({
    connect: duration().optional().describe('To open a connection.'),
    first_byte: duration().optional().describe('From the last request byte to the first response byte.'),
    idle: duration().optional().describe('Between later bytes.'),
    total: duration().optional().describe('For the whole call.'),
  })
    .prefault({})
    .describe("Timeouts, instead of the upstream's.")
    .meta({ defaultText: 'those of the upstream' }),
});

export type RouteEntry = z.output<typeof routeSchema>;

const keptHeaders =
  /^(?:authorization|x-api-key|api-key|x-goog-api-key|cookie|host|te|trailer|upgrade|expect|connection|accept(?:-.*)?|content-.*|transfer-.*|proxy-.*|x-forwarded-.*|x-request-id|x-postern-.*|user-agent)$/;

export function* compileRoutes(
  entries: readonly Entry<RouteEntry>[],
  upstreams: ReadonlyMap<string, Upstream>,
  models: ModelIndex,
  context: CompileContext,
): Generator<undefined, readonly CustomRoute[], undefined> {
  const routes: CustomRoute[] = [];
  const earlier: { readonly path: string; readonly at: Location }[] = [];
  for (const { path, value } of entries) {
    yield;
    const location = new Location(context, path);
    const at = location.at('path');
    const before = earlier.find((other) => mayMeanTheSame(other.path, value.path));
    const taken = context.takenPaths.find((other) => mayMeanTheSame(other.path, value.path));
    if (before !== undefined) {
      at.fault(`may mean the same as ${before.at.inWords()}; each path stands for one thing`);
    } else if (taken?.elsewhere !== undefined && taken.path === value.path) {
      at.warn(` goes before what Postern has at ${taken.path}, which stays at ${taken.elsewhere}`);
    } else if (taken !== undefined) {
      at.fault(`may mean the same as ${taken.path}, which is there already; choose another`);
    }
    earlier.push({ path: value.path, at });
    for (const [index, id] of (value.upstreams ?? []).entries()) {
      if (!upstreams.has(id)) location.at('upstreams', index).unknown('no upstream is called', id, upstreams.keys());
    }
    const model = toModelField(value, models, location);
    if (model !== undefined) routes.push(toRoute(value, model));
    if (labels.some((label) => label === value.label && label !== 'own')) {
      location.at('label').fault('is what a route of Postern is called; choose another');
    }
  }
  return Object.freeze(routes);
}

function toModelField(
  { path, to = path, method, model: written, form }: RouteEntry,
  models: ModelIndex,
  location: Location,
): CustomModelSource | undefined {
  const fault = (key: string, problem: string): undefined => {
    location.at(key).fault(problem);
  };
  const isInPath = path.includes('{model}');
  if (path.indexOf('{model}') !== path.lastIndexOf('{model}')) return fault('path', 'holds {model} twice');
  if (form && method === 'GET') return fault('form', 'a GET has no body; leave this out');
  if (isInPath)
    return written === undefined ? { from: 'path' } : fault('model', 'stands in the path already; leave this out');
  if (written === undefined && method === 'GET') {
    return fault('model', 'is missing: a GET has no body, so name a header or an id, or put {model} into the path');
  }
  if (to.includes('{model}') && to !== path && to.indexOf('{model}') !== to.lastIndexOf('{model}')) {
    return fault('to', 'holds {model} twice');
  }
  const { field = written === undefined ? 'model' : undefined, header, id } = written ?? {};
  if (field !== undefined) {
    return method === 'GET' ? fault('model', 'a GET has no body, and so no field') : { from: 'field', name: field };
  }
  if (header !== undefined) {
    return keptHeaders.test(header)
      ? fault('model', 'no model can stand in this header; choose another')
      : { from: 'header', name: header };
  }
  const found = id === undefined || id.includes('*') ? undefined : models.resolve(id)?.model;
  if (id === undefined || found === undefined) return fault('model', 'names a model that there is not');
  if (found.operations.includes('own')) return { from: 'nowhere', id };
  return fault('model', 'names a model that does not serve own; add own to its operations');
}

const anything = { pattern: /^[^\p{Cc}]{0,512}$/u, form: 'text without control characters', isList: true } as const;
const version = /^\/v1(?=\/.)/;

function toRoute(route: RouteEntry, model: CustomModelSource): CustomRoute {
  const { path, to = path.replace(version, ''), method, label, lane, usage, most } = route;
  const { connect, first_byte: firstByte, idle, total } = route.timeouts;
  const grammar: QueryGrammar = Object.fromEntries(route.query.map((name) => [name, anything]));
  return Object.freeze({
    path,
    method,
    offer: Object.freeze({ path: to }),
    label,
    upstreams: route.upstreams && new Set(route.upstreams),
    model,
    lane,
    takesForms: route.form,
    query: route.query.length > 0 ? grammar : undefined,
    timeouts: {
      ...(connect !== undefined && { connectMs: connect }),
      ...(firstByte !== undefined && { firstByteMs: firstByte }),
      ...(idle !== undefined && { idleMs: idle }),
      ...(total !== undefined && { totalMs: total }),
    },
    // Always with the same fields, so that all requests read objects of one shape.
    usage: usage && { input: usage.input, output: usage.output, units: usage.units },
    most: { output: most.output, units: most.units },
  });
}
