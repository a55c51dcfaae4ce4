/**
 * Objects that an upstream keeps, such as files and earlier answers, lie in the operator's account, where those of every client
 * are: whoever knows a name there could use it. What a request names so is refused, as if it did not exist.
 */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { Kept } from '../core/operations/row.ts';
import type { Route } from '../core/route.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { atOnce, inTurns } from '../lib/turns.ts';
import { countNames, countTexts, hasEscapedLetter } from './json-names.ts';
import type { Question } from './question.ts';

/** A longer body that may name one is not read for it. */
const longestReadBytes = 4 * 1024 ** 2;

/** Longer than this, it is looked through in turns. */
const oneTurnBytes = 512 * 1024;

/** Throws where the request names one. Without a promise where it is not long. */
export function checkKeptObjects({ body, scan, form }: Question, { row: { kept } }: Route): undefined | Promise<void> {
  if (kept === undefined) return undefined;
  // Forms write what lies in one another with brackets: `images[0][file_id]`.
  const bracketed = form === undefined ? undefined : kept.names.find((name) => body.includes(`[${name}]`));
  if (bracketed !== undefined) throw notKept(bracketed);
  checkBackground({ body, scan });
  for (const name of kept.fields) {
    const field = scan.fields.get(name);
    if ((field !== undefined && field.kind !== 'null') || scan.foldedOnly.includes(name)) throw notKept(name);
  }
  const looking = look(body, kept);
  if (body.length > oneTurnBytes) return inTurns(looking);
  atOnce(looking);
  return undefined;
}

function* look(body: Buffer, kept: Kept): Generator<undefined, void, undefined> {
  let written = 0;
  let suspect: string | undefined;
  for (const name of [...kept.names, ...(kept.holders ?? [])]) {
    const count = yield* countNames(body, name);
    if (count > 0) suspect ??= name;
    written += count;
  }
  for (const type of kept.types ?? []) {
    const count = yield* countTexts(body, type);
    if (count > 0) suspect ??= type;
    written += count;
  }
  if (suspect === undefined && !(yield* hasEscapedLetter(body))) return;
  if (body.length > longestReadBytes) throw notKept(suspect ?? 'input');
  const walk = new Walk(kept);
  walk.through(JSON.parse(body.toString()));
  // One that stands there twice is read by some where it comes first, and by others where it comes last.
  if (walk.named === undefined && walk.seen < written) throw notKept(suspect ?? 'input');
  if (walk.named !== undefined) throw notKept(walk.named);
}

const LOWER_T = 0x74;

/** What goes on by itself could be neither ended nor billed. */
function checkBackground({ body, scan }: Pick<Question, 'body' | 'scan'>): void {
  const field = scan.fields.get('background');
  if (field === undefined || body[field.start] !== LOWER_T) return;
  throw new GatewayError('unsupported_parameter', {
    param: 'background',
    message: 'An answer that is made in the background cannot be fetched through the gateway; leave "background" out.',
  });
}

/** Through all that is read of a body. Where a schema has a property of such a name, an object stands there. */
class Walk {
  readonly #kept: Kept;
  named: string | undefined = undefined;
  /** How many names and types of those that it looks for there are. */
  seen = 0;

  constructor(kept: Kept) {
    this.#kept = kept;
  }

  through(value: unknown, isTools = false): void {
    const { names, holders = [], types = [], except } = this.#kept;
    if (typeof value === 'string' && types.includes(value)) this.seen += 1;
    if (Array.isArray(value)) for (const one of value) this.through(one, isTools);
    if (!isMapping(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      const isHolder = holders.includes(name);
      if (isHolder || names.includes(name)) {
        this.seen += 1;
        if (!isTools && (isHolder ? isMapping(inner) && isNamed(inner) : isNamed(inner))) this.named ??= name;
      }
      this.through(inner, isTools || name === except);
    }
    if (typeof value.type === 'string' && types.includes(value.type) && typeof value.result !== 'string') {
      this.named ??= value.type;
    }
  }
}

function isNamed(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((one) => typeof one === 'string');
  return typeof value === 'string' || (isMapping(value) && typeof value.id === 'string');
}

function notKept(param: string): GatewayError {
  return new GatewayError('object_not_found', {
    param,
    message: `What "${param}" names is not known here: nothing that an upstream keeps can be used through the gateway; send its content instead.`,
  });
}
