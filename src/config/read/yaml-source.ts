/** Parses any YAML, and reports syntax faults. Depth and size are limited. */

import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { ColumnWriter, positionAt, type Scalar, type SourceFault, type SourceText } from './columns.ts';
import type { Path } from './faults.ts';
import { deepest, mostValues } from './plain-source.ts';

/** The YAML library, loaded for the first text that needs it: loading takes longer than reading most files. */
let yaml: typeof Yaml;

const mostSyntaxFaults = 5;

const tooDeep = `is nested more than ${deepest} levels deep`;
const tooMany = `here the file passes the limit of ${mostValues} values, where each use of an alias counts all that its anchor holds; write less, or use fewer aliases`;

const noMerging = 'YAML 1.2 has no merge keys; write the keys out, or let an alias stand for a whole value';

const syntaxMessages: Readonly<Partial<Record<Yaml.YAMLError['code'], string>>> = {
  BAD_INDENT: 'the indentation does not fit, or a bracket is not closed',
  BAD_SCALAR_START: 'a value cannot begin with this character; put it in quotes',
  BAD_DQ_ESCAPE: 'there is no such escape sequence; use single quotes for text with backslashes',
  BLOCK_AS_IMPLICIT_KEY: 'the indentation does not fit, or a value with ": " in it needs quotes',
  MISSING_CHAR: 'a quote, a bracket, a comma or a colon is missing',
  MULTILINE_IMPLICIT_KEY: 'the indentation does not fit, or a colon is missing after the key',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
};

export function readYaml(text: string): SourceText {
  if (opensTooMuch(text)) return unreadable([{ path: [], message: tooDeep }]);
  yaml ??= createRequire(import.meta.url)('yaml');
  const lines = new yaml.LineCounter();
  // Editors indent JSON with tabs too, which YAML forbids; blanks in their place keep every position.
  const json = /^\s*[{[]/.test(text);
  const readable = json ? text.replace(/^[\t ]+/gm, (indent) => ' '.repeat(indent.length)) : text;
  const parsed = yaml.parseAllDocuments(readable, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const documents: readonly Yaml.Document.Parsed[] = Array.isArray(parsed) ? parsed : [];

  const errors = documents.flatMap((document) => document.errors);
  if (errors.length > 0) return unreadable(toSyntaxFaults(errors, readable, lines));

  const [document, second] = documents;
  if (document === undefined || document.contents === null) return unreadable([{ path: [], message: 'is empty' }]);
  if (second !== undefined) {
    const message = 'a second document begins here; one file holds one configuration';
    return unreadable([{ path: [], position: positionAt(lines.lineStarts, second.range[0]), message }]);
  }
  return convert(document, lines.lineStarts);
}

/** Whether a text opens too many brackets: the parser's time grows with their square, and honest files have few, even in quotes. */
function opensTooMuch(text: string): boolean {
  let open = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1);
    if (open > 1000) return true;
  }
  return false;
}

const unreadable = (faults: readonly SourceFault[]): SourceText => ({ columns: undefined, faults });

/** The library's errors with messages of our own: its messages may repeat text of the file, and so a secret. */
function toSyntaxFaults(
  errors: readonly Yaml.YAMLError[],
  text: string,
  { lineStarts }: Yaml.LineCounter,
): SourceFault[] {
  const faults = new Map<number, SourceFault>();
  const textLines = text.split('\n');
  for (const error of errors) {
    const position = positionAt(lineStarts, error.pos[0]);
    if (faults.has(position.line) || faults.size === mostSyntaxFaults) continue;
    const bare = /[[{].*\$\{/.test(textLines[position.line - 1] ?? '');
    const hint = bare ? `; between brackets a value with \${NAME} needs quotes` : '';
    const message = error.code === 'RESOURCE_EXHAUSTION' ? tooDeep : syntaxMessages[error.code];
    faults.set(position.line, { path: [], position, message: (message ?? 'is not valid YAML') + hint });
  }
  return [...faults.values()];
}

/** Finds what each alias stands for in one walk: the library would search from the beginning for each one. */
function findAliased(document: Yaml.Document.Parsed): Map<Yaml.Alias, Yaml.Node> {
  const anchors = new Map<string, Yaml.Node>();
  const aliased = new Map<Yaml.Alias, Yaml.Node>();
  yaml.visit(document, {
    Node(_, node) {
      if (!yaml.isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        return;
      }
      const target = anchors.get(node.source);
      if (target !== undefined) aliased.set(node, target);
    },
  });
  return aliased;
}

function convert(document: Yaml.Document.Parsed, lineStarts: readonly number[]): SourceText {
  const writer = new ColumnWriter();
  const faults: SourceFault[] = [];
  const aliased = findAliased(document);
  let values = 0;
  let stopped = false;

  function report(path: Path, message: string, offset: number): void {
    faults.push({ path, message, position: positionAt(lineStarts, offset) });
  }

  function stop(path: Path, message: string, offset: number): void {
    if (!stopped) report(path, message, offset);
    stopped = true;
  }

  /** The offset of a node; `around`, that of its container, where it has none. */
  const offsetOf = (node: unknown, around: number): number =>
    yaml.isNode(node) && node.range ? node.range[0] : around;

  /** Writes a node. `at`: the offset of its key, or its own where it has no key. */
  function write(node: unknown, path: Path, at: number): void {
    values += 1;
    if (stopped) return;
    if (path.length > deepest) stop(path, tooDeep, at);
    else if (values > mostValues) stop(path, tooMany, at);
    else if (yaml.isAlias(node)) writeAliased(node, path, at);
    else if (yaml.isSeq(node)) {
      writer.list(at);
      for (const [index, item] of node.items.entries()) write(item, [...path, index], offsetOf(item, at));
      writer.close();
    } else if (yaml.isMap(node)) writeMapping(node.items, path, at);
    else if (yaml.isScalar(node)) writer.scalar(toScalar(node.value, path, at), at);
    else writer.scalar(null, at);
  }

  function writeAliased(alias: Yaml.Alias, path: Path, at: number): void {
    const node = aliased.get(alias);
    if (node !== undefined) {
      write(node, path, at);
      return;
    }
    report(path, 'the alias refers to an anchor that does not stand before it', at);
    writer.scalar(null, at);
  }

  function writeMapping(items: readonly { key: unknown; value: unknown }[], path: Path, at: number): void {
    const offsets = new Map<string, number>();
    writer.mapping(at);
    for (const { key: keyNode, value } of items) {
      if (stopped) break;
      const keyValue = yaml.isScalar(keyNode) ? keyNode.value : undefined;
      const offset = offsetOf(keyNode, at);
      if (keyValue === undefined || keyValue === null) {
        report(path, 'a key must be plain text', offset);
        continue;
      }
      const key = String(keyValue);
      const keyPath = [...path, key];
      const first = offsets.get(key);
      offsets.set(key, first ?? offset);
      if (key === '__proto__') report(keyPath, 'unknown key', first ?? offset);
      else if (key === '<<' && (yaml.isSeq(value) ? value.items : [value]).some(yaml.isAlias))
        report(keyPath, noMerging, offset);
      else if (first !== undefined) {
        report(keyPath, `stands twice; the first is on line ${positionAt(lineStarts, first).line}`, offset);
      } else {
        writer.key(key, offset);
        write(value, keyPath, offset);
      }
    }
    writer.close();
  }

  function toScalar(value: unknown, path: Path, at: number): Scalar {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return value;
    report(path, 'is a kind of value that no setting takes; put it in quotes', at);
    return null;
  }

  write(document.contents, [], offsetOf(document.contents, 0));
  return { columns: stopped ? undefined : writer.finish(lineStarts), faults };
}
