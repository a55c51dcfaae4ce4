/** Finds the log events in `src`: level, name and fields of each call. */

import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

export interface LogEvent {
  readonly file: string;
  readonly level: string;
  /** The name; a name that is put together has `{}` for each part that varies. */
  readonly name: string;
  readonly fields: readonly string[];
  /** Whether the call may have further fields, such as by a spread. */
  readonly isOpen: boolean;
}

const levels = new Set(['debug', 'info', 'warn', 'error']);

export function findLogEvents(root: string): LogEvent[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  return files.toSorted().flatMap((file) => {
    const text = readFileSync(`${root}/${file}`, 'utf8');
    if (!/\blog\??\.(debug|info|warn|error)\(/i.test(text)) return [];
    const events: LogEvent[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node)) events.push(...eventsOf(node, file));
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
    return events;
  });
}

function eventsOf({ expression, arguments: args }: ts.CallExpression, file: string): LogEvent[] {
  if (!ts.isPropertyAccessExpression(expression) || !levels.has(expression.name.text)) return [];
  if (!/\blog$/i.test(expression.expression.getText())) return [];
  const [first, second] = args;
  const name = first === undefined ? undefined : nameOf(first);
  if (name === undefined) return [];
  return [{ file, level: expression.name.text, name, ...fieldsOf(second) }];
}

function nameOf(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('');
}

function fieldsOf(node: ts.Expression | undefined): Pick<LogEvent, 'fields' | 'isOpen'> {
  if (node === undefined) return { fields: [], isOpen: false };
  if (!ts.isObjectLiteralExpression(node)) return { fields: [], isOpen: true };
  const fields = node.properties.flatMap(({ name }) => (name === undefined ? [] : [name.getText()]));
  return { fields, isOpen: node.properties.some(ts.isSpreadAssignment) };
}
