/** The text of a configuration file as plain values, each with its place: YAML or JSON, bounded in depth and in size. */

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type YAMLError,
} from 'yaml';
import { createFaultList, type FaultList, type Path, type Position, toPathText } from './faults.ts';

export interface Source {
  /** Undefined where the text cannot be read. Mappings have no prototype, so that no key means more than itself. */
  readonly tree: unknown;
  /** Of the value, or of what is nearest around it. */
  positionOf(path: Path): Position | undefined;
  /** Holds what is wrong so far, and takes what is found later. */
  readonly faults: FaultList;
}

const deepest = 32;
const tooDeep = `is nested more than ${deepest} levels deep`;
/** What aliases unfold to counts, so that a few lines cannot become millions. */
const mostValues = 200_000;
const mostSyntaxFaults = 5;

const syntaxMessages: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_INDENT: 'the indentation does not fit, or a bracket is not closed',
  BAD_SCALAR_START: 'a value cannot begin with this character; put it in quotes',
  BAD_DQ_ESCAPE: 'there is no such escape sequence; use single quotes for text with backslashes',
  BLOCK_AS_IMPLICIT_KEY: 'the indentation does not fit, or a value with ": " in it needs quotes',
  MISSING_CHAR: 'a quote, a bracket, a comma or a colon is missing',
  MULTILINE_IMPLICIT_KEY: 'the indentation does not fit, or a colon is missing after the key',
  RESOURCE_EXHAUSTION: tooDeep,
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
};

export function parseSource(text: string): Source {
  if (opensTooMuch(text)) return unreadable([{ message: tooDeep }]);
  const lines = new LineCounter();
  // Editors indent JSON with tabs too, which YAML forbids; a blank in its place keeps every position.
  const json = /^\s*[{[]/.test(text);
  const readable = json ? text.replace(/^[\t ]+/gm, (indent) => ' '.repeat(indent.length)) : text;
  const parsed = parseAllDocuments(readable, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const documents: readonly Document.Parsed[] = Array.isArray(parsed) ? parsed : [];

  const errors = documents.flatMap((document) => document.errors);
  if (errors.length > 0) return unreadable(toSyntaxFaults(errors, readable, lines));

  const [document, second] = documents;
  if (document === undefined || document.contents === null) return unreadable([{ message: 'is empty' }]);
  if (second !== undefined) {
    const message = 'a second document begins here; one file holds one configuration';
    return unreadable([{ ...toPosition(lines, second.range[0]), message }]);
  }
  return convert(document, lines);
}

/** The parser's time grows with the square of open brackets; no honest file has so many, even within quotes. */
function opensTooMuch(text: string): boolean {
  let open = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1);
    if (open > 1000) return true;
  }
  return false;
}

interface SyntaxFault extends Partial<Position> {
  readonly message: string;
}

function unreadable(syntaxFaults: readonly SyntaxFault[]): Source {
  const placed = createFaultList(() => undefined);
  for (const { message, line, column } of syntaxFaults) {
    placed.add([], message, line === undefined || column === undefined ? undefined : { line, column });
  }
  return { tree: undefined, positionOf: () => undefined, faults: placed };
}

/** The library's own words may repeat what stands in the file, and so a secret: these do not. */
function toSyntaxFaults(errors: readonly YAMLError[], text: string, lines: LineCounter): SyntaxFault[] {
  const faults = new Map<number, SyntaxFault>();
  const textLines = text.split('\n');
  for (const error of errors) {
    const position = toPosition(lines, error.pos[0]);
    if (faults.has(position.line) || faults.size === mostSyntaxFaults) continue;
    const bare = /[[{].*\$\{/.test(textLines[position.line - 1] ?? '');
    const hint = bare ? `; between brackets a value with \${NAME} needs quotes` : '';
    faults.set(position.line, { ...position, message: (syntaxMessages[error.code] ?? 'is not valid YAML') + hint });
  }
  return [...faults.values()];
}

function toPosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

function convert(document: Document.Parsed, lines: LineCounter): Source {
  const positions = new Map<string, Position>();
  const positionOf = (path: Path): Position | undefined => {
    for (let length = path.length; length >= 0; length--) {
      const position = positions.get(toPathText(path.slice(0, length)));
      if (position !== undefined) return position;
    }
    return undefined;
  };
  const faults = createFaultList(positionOf);
  let values = 0;
  let stopped = false;

  function stop(path: Path, message: string): undefined {
    if (!stopped) faults.add(path, message);
    stopped = true;
    return undefined;
  }

  function place(path: Path, node: unknown): void {
    const text = toPathText(path);
    const position = positionOfNode(node);
    if (position !== undefined && !positions.has(text)) positions.set(text, position);
  }

  function positionOfNode(node: unknown): Position | undefined {
    return isNode(node) && node.range ? toPosition(lines, node.range[0]) : undefined;
  }

  function toValue(node: unknown, path: Path): unknown {
    values += 1;
    if (stopped) return undefined;
    place(path, node);
    if (path.length > deepest) return stop(path, tooDeep);
    if (values > mostValues) return stop(path, `the file unfolds to more than ${mostValues} values`);
    if (isAlias(node)) return toAliased(node, path);
    if (isSeq(node)) return node.items.map((item, index) => toValue(item, [...path, index]));
    if (isMap(node)) return toMapping(node.items, path);
    if (isScalar(node)) return toScalar(node.value, path);
    return null;
  }

  function toAliased(alias: Alias, path: Path): unknown {
    const node = alias.resolve(document);
    if (node !== undefined) return toValue(node, path);
    faults.add(path, 'the alias refers to an anchor that does not stand before it');
    return null;
  }

  function toMapping(items: readonly { key: unknown; value: unknown }[], path: Path): unknown {
    const mapping: Record<string, unknown> = Object.create(null);
    for (const { key: keyNode, value } of items) {
      if (stopped) return undefined;
      const keyValue = isScalar(keyNode) ? keyNode.value : undefined;
      if (keyValue === undefined || keyValue === null) {
        faults.add(path, 'a key must be plain text', positionOfNode(keyNode));
        continue;
      }
      const key = String(keyValue);
      const keyPath = [...path, key];
      if (Object.hasOwn(mapping, key)) {
        faults.add(keyPath, `stands twice; the first is on line ${positionOf(keyPath)?.line}`, positionOfNode(keyNode));
        continue;
      }
      place(keyPath, keyNode);
      if (key === '__proto__') {
        faults.add(keyPath, 'unknown key');
        continue;
      }
      mapping[key] = toValue(value, keyPath);
    }
    return mapping;
  }

  function toScalar(value: unknown, path: Path): unknown {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return value;
    faults.add(path, 'is a kind of value that no setting takes; put it in quotes');
    return null;
  }

  const tree = toValue(document.contents, []);
  return { tree: stopped ? undefined : tree, positionOf, faults };
}
