/** Applies settings from the environment (`POSTERN_SERVER_PORT`) and from `--set server.port=8080`, which takes precedence. */

import * as z from 'zod';
import { nearHint } from '../../lib/nearest-name.ts';
import { findSecretShape } from '../../lib/secrets/secret-shapes.ts';
import { configurationSchema } from '../elements/schema.ts';
import { bare, eachElement, isSecret, settingsIn } from '../elements/schema-lookup.ts';
import { type Fault, type FaultList, locatorFor } from '../read/faults.ts';
import { type Layer, withLayers } from '../read/layers.ts';
import { parseSource, type Source } from '../read/source.ts';
import type { Environment } from '../read/substitute.ts';
import { OwnedTree } from '../read/tree.ts';

interface OutsideName {
  readonly path: readonly string[];
  readonly dotted: string;
  readonly variable: string;
  /** What a value is: a scalar, a list of scalars, or a nested value. */
  readonly shape: 'scalar' | 'list' | 'structure';
  readonly mayHoldSecret: boolean;
}

/** The outside names of all settings, each section before its contents. */
export const outsideNames: readonly OutsideName[] = [...settingsIn(configurationSchema)].flatMap(({ path, schema }) =>
  path.length === 0 || path[0] === '$schema' || path.includes(eachElement) ? [] : [toName(schema, path)],
);

function toName(schema: z.core.$ZodType, path: readonly string[]): OutsideName {
  return {
    path,
    dotted: path.join('.'),
    variable: `POSTERN_${path.join('_').toUpperCase()}`,
    shape: shapeOf(bare(schema)),
    mayHoldSecret: holdsSecret(schema, new Set()),
  };
}

function shapeOf(inner: z.core.$ZodType): OutsideName['shape'] {
  if (inner instanceof z.ZodArray) return shapeOf(bare(inner.def.element)) === 'scalar' ? 'list' : 'structure';
  return inner instanceof z.ZodObject || inner instanceof z.ZodRecord || inner instanceof z.ZodUnknown
    ? 'structure'
    : 'scalar';
}

function holdsSecret(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): boolean {
  if (isSecret(schema)) return true;
  const inner = bare(schema);
  if (seen.has(inner)) return false;
  seen.add(inner);
  const inside = (child: z.core.$ZodType): boolean => holdsSecret(child, seen);
  if (inner instanceof z.ZodObject) return Object.values<z.core.$ZodType>(inner.def.shape).some(inside);
  if (inner instanceof z.ZodArray) return inside(inner.def.element);
  if (inner instanceof z.ZodRecord) return inside(inner.def.valueType);
  return inner instanceof z.ZodUnion && inner.def.options.some(inside);
}

interface Written {
  readonly name: OutsideName;
  readonly text: string;
  readonly origin: string;
}

const byVariable = new Map(outsideNames.map((name) => [name.variable, name]));
const byDotted = new Map(outsideNames.map((name) => [name.dotted, name]));

/**
 * The source with the outside settings on top. One that cannot be read stays unchanged, because its own faults come first. `origins`:
 * where the settings come from, such as `POSTERN_SERVER_PORT`.
 */
export function withOutsideSettings(source: Source, env: Environment, set: readonly string[]) {
  const faults: Fault[] = [];
  const written = [...inEnvironment(env), ...set.flatMap((text) => onCommandLine(text, faults))];
  if (source.tree === undefined || (written.length === 0 && faults.length === 0)) return { source, env, origins: [] };
  source.faults.put(...faults);
  // A whole section is applied before parts of it.
  const ordered = written.toSorted((a, b) => a.name.path.length - b.name.path.length);
  const whole = ordered.map((one) => ({ one, ...toLayer(one, source.faults) }));
  const own = new OwnedTree(source.tree);
  for (const { one, value } of whole) {
    own.put(one.name.path, value);
    const other = otherForm(one.name);
    if (other !== undefined) own.put(other.path, undefined);
  }
  return {
    source: withLayers(
      source,
      own.tree,
      whole.map(({ layer }) => layer),
    ),
    origins: ordered.map(({ origin }) => origin),
    env: { ...env, ...Object.fromEntries(written.map(({ name, text }) => [name.variable, text])) },
  };
}

/** The settings in the environment. An empty variable counts as unset, because compose files pass unset ones on that way. */
function inEnvironment(env: Environment): Written[] {
  return outsideNames.flatMap((name) => {
    const text = env[name.variable];
    if (text === undefined || text === '' || isServiceLink(name.variable, text)) return [];
    return [{ name, text, origin: name.variable }];
  });
}

function onCommandLine(argument: string, faults: Fault[]): Written[] {
  const end = argument.indexOf('=');
  const dotted = end === -1 ? argument : argument.slice(0, end);
  const origin = `--set ${dotted}`;
  const name = byDotted.get(dotted);
  const message = whyNotOnCommandLine(name, dotted, end === -1 ? undefined : argument.slice(end + 1));
  if (name !== undefined && message === undefined) return [{ name, text: argument.slice(end + 1), origin }];
  faults.push({ origin, path: '', message: message ?? '' });
  return [];
}

function whyNotOnCommandLine(
  name: OutsideName | undefined,
  dotted: string,
  value: string | undefined,
): string | undefined {
  if (name === undefined) {
    const inList = /[[\].]\d/.test(dotted) ? '; a list is set as a whole' : '';
    return `is no setting${inList || nearHint(dotted, byDotted.keys())}`;
  }
  if (value === undefined || value === '') return `needs a value, as in --set ${dotted}=VALUE`;
  if (!name.mayHoldSecret && !holdsSecretIn(name, value)) return undefined;
  if (dotted === 'store' && value.startsWith('sqlite:')) return undefined;
  return `may hold a secret, and everyone who lists the processes reads what stands in a command line; write it in the file, or set ${name.variable}`;
}

/** Whether a value may contain a secret: one that has a secret's shape, or parameters of models, which may be anything. */
const holdsSecretIn = ({ dotted }: OutsideName, value: string): boolean =>
  findSecretShape(value) !== undefined ||
  /\bps[ta]_\w{16,}/.test(value) ||
  (dotted === 'models' && /\bdefaults\b/.test(value));

/** The other form of a secret setting, such as `token_file` for `token`; the file's value for it is dropped. */
function otherForm({ dotted }: OutsideName): OutsideName | undefined {
  return byDotted.get(dotted.endsWith('_file') ? dotted.slice(0, -'_file'.length) : `${dotted}_file`);
}

/** The layer of one setting. A scalar is inserted as a reference, so that it counts as from the environment and is never shown. */
function toLayer(
  { name, text, origin }: Written,
  faults: FaultList,
): { readonly layer: Layer; readonly value: unknown } {
  const depth = name.path.length;
  const claims: Layer['inner'] = (path) =>
    path.length >= depth && name.path.every((step, at) => path[at] === step) ? path.slice(depth) : undefined;
  const layer = { origin, inner: claims, positionOf: () => undefined, namesInner: false };
  const isStructured = name.shape === 'structure' || /^\s*[[{]/.test(text);
  if (!isStructured) {
    const value = name.shape === 'scalar' ? `\${${name.variable}}` : text.split(',').map((item) => item.trim());
    return { layer, value };
  }
  const parsed = parseSource(text);
  faults.put(...parsed.faults.all(locatorFor(origin, parsed.positionOf)));
  return { layer: { ...layer, positionOf: parsed.positionOf }, value: parsed.tree };
}

const otherNames = [
  'POSTERN_CONFIG',
  'POSTERN_KEY',
  'POSTERN_SECRET_KEY',
  'POSTERN_SECRET_KEY_FILE',
  'POSTERN_TOKEN',
  'POSTERN_WARM_UP',
];
const ownNames = /^POSTERN_(?:WORKER$|DIRECT$|TEST_|BENCH_|FUZZ_)/;

/** A fault for each unused variable: its author most likely believes that it sets something. */
export function unknownVariables(env: Environment, readNames: ReadonlySet<string>): Fault[] {
  const known = [...byVariable.keys(), ...otherNames];
  return Object.entries(env).flatMap(([variable, text = '']): Fault[] => {
    if (!variable.startsWith('POSTERN_') || known.includes(variable) || readNames.has(variable)) return [];
    if (ownNames.test(variable) || isServiceLink(variable, text)) return [];
    const hint = nearHint(variable, known, '; take it out of the environment');
    const message = `is no setting, and the configuration refers to no such variable${hint}`;
    return [{ origin: variable, path: '', message }];
  });
}

const linkName = /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?$/;
const linkAddress = /^(?:tcp|udp|sctp):\/\//;

/** Whether Kubernetes set a variable: for a service named `postern` or `postern-console` its names look like those of settings. */
function isServiceLink(variable: string, text: string): boolean {
  return linkName.test(variable) || (variable.endsWith('_PORT') && linkAddress.test(text));
}
