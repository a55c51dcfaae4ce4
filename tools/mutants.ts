/** Makes mutants of a source file, which tests should detect: an inverted comparison, an omitted call, a constant condition. */

import ts from 'typescript';
import type { Mutant } from './mutant-hook.ts';

export interface Candidate extends Mutant {
  readonly line: number;
  /** The original text, on one line. */
  readonly was: string;
  /** The call site that leads to it. */
  readonly from: number;
}

const otherOperators = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusEqualsToken, '-='],
  [ts.SyntaxKind.MinusEqualsToken, '+='],
]);

export function mutantsOf(file: string, source: string): Candidate[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ESNext, true);
  const found: Candidate[] = [];

  function add(node: ts.Node, text: string, first = node): void {
    const start = node.getStart(tree);
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    const was = source.slice(start, node.end).replaceAll(/\s+/g, ' ').slice(0, 80);
    found.push({ file, start, end: node.end, text, line, was, from: first.getStart(tree) });
  }

  function visit(node: ts.Node): void {
    // Types do not exist at run time.
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const other = otherOperators.get(node.operatorToken.kind);
      if (other !== undefined) add(node.operatorToken, other, node);
    } else if (ts.isIfStatement(node)) {
      add(node.expression, 'true');
      add(node.expression, 'false');
    } else if (ts.isConditionalExpression(node)) {
      add(node.condition, `!(${node.condition.getText(tree)})`);
    } else if (ts.isExpressionStatement(node) && canBeLeftOut(node.expression)) {
      add(node.expression, 'void 0');
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false');
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true');
    else if (ts.isNumericLiteral(node) && (node.text === '0' || node.text === '1'))
      add(node, node.text === '0' ? '1' : '0');
    ts.forEachChild(node, visit);
  }

  visit(tree);
  return found;
}

function canBeLeftOut(expression: ts.Expression): boolean {
  return (
    ts.isCallExpression(expression) || ts.isBinaryExpression(expression) || ts.isPostfixUnaryExpression(expression)
  );
}
