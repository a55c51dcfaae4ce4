/** Renumbers the items that an error names: an upstream numbers them within its part, a client within the whole list. */

import { Buffer } from 'node:buffer';
import { GatewayError } from '../../core/errors.ts';
import type { JsonSpan } from '../../lib/json/json-elements.ts';
import { type Replacement, replaceSpans } from '../../lib/json/json-scan.ts';
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../lib/json/json-tokens.ts';
import { JsonWalk, JsonWalkError } from '../../lib/json/json-walk.ts';

/** Converts an item's number in its part to that in the whole list; undefined where the part has no such item. */
type IndexInWhole = (item: number) => number | undefined;

const name =
  '(?:input(?:_text)?|text|document|doc|passage|item|content|request|instance|sequence|element|prompt|chunk)';
/** Matches an item's number: `input[3]`, `inputs.3`, `document at index 3`; `input 3`, but not `input 3 tokens`; `index 3`. */
const numbered = new RegExp(
  `\\b(${name}s?(?:\\[|\\.|/| #| at (?:index|position) )|${name} |index(?: |=|: ?| #))(\\d+)(?![\\w.]*\\d)(?! (?:tokens?|characters?|bytes|words?)\\b)`,
  'gi',
);
const listName = new RegExp(`^${name}s?$`, 'i');

/** Matches fields of any service's errors with text about the request; other fields may repeat the input. */
const words = /^(?:message|msg|param|details?|errors?|title|description|reason|field|faultstring|upstream)$/i;

function textInWhole(text: string, indexInWhole: IndexInWhole): string {
  return text.replace(numbered, (said, before: string, item: string) => {
    const index = indexInWhole(Number(item));
    return index === undefined ? said : before + index;
  });
}

export function renumbered(error: unknown, indexInWhole: IndexInWhole): unknown {
  if (!(error instanceof GatewayError)) return error;
  const { code, message, param, headers, cause } = error;
  return new GatewayError(code, {
    message: textInWhole(message, indexInWhole),
    headers,
    ...(param !== null && { param: textInWhole(param, indexInWhole) }),
    ...(cause !== undefined && { cause: typeof cause === 'string' ? textInWhole(cause, indexInWhole) : cause }),
  });
}

/** Renumbers the items in an upstream's own error; all other bytes stay. */
export function renumberedBody(body: Buffer, indexInWhole: IndexInWhole): Buffer {
  try {
    return replaceSpans(body, patchesIn(body, indexInWhole));
  } catch (error) {
    if (!(error instanceof JsonWalkError)) throw error;
    // The body is not JSON, so all of it is text.
    return Buffer.from(textInWhole(body.toString('latin1'), indexInWhole), 'latin1');
  }
}

function patchesIn(body: Buffer, indexInWhole: IndexInWhole): readonly Replacement[] {
  const patches: Replacement[] = [];
  const walk = new JsonWalk(body);
  const sourceOf = ({ start, end }: JsonSpan): string => body.toString('latin1', start, end);

  /** Visits a value of the error; `said`: the name of its field. */
  function visit(said: string): void {
    switch (walk.peek()) {
      case OPEN_BRACE:
        walk.object(visit);
        break;
      case OPEN_BRACKET:
        if (said === 'loc') visitPath();
        else walk.list(() => visit(said));
        break;
      case QUOTE: {
        const span = walk.text();
        if (words.test(said)) add(span, textInWhole(sourceOf(span), indexInWhole));
        break;
      }
      default:
        walk.value();
    }
  }

  /** Renumbers a path in the form of a list, such as `["body", "input", 3]`. */
  function visitPath(): void {
    let before = '';
    walk.list(() => {
      const isText = walk.peek() === QUOTE;
      const span = walk.value();
      const index = listName.test(before) ? indexInWhole(Number(sourceOf(span))) : undefined;
      if (index !== undefined) add(span, String(index));
      before = isText ? walk.textOf(span) : '';
    });
  }

  function add(span: JsonSpan, text: string): void {
    if (text !== sourceOf(span)) patches.push({ ...span, pieces: [Buffer.from(text, 'latin1')] });
  }

  visit('error');
  walk.end();
  return patches;
}
