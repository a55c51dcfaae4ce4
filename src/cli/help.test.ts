import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import type { Command } from './command.ts';
import { toHelp, toOptionFault } from './help.ts';
import { ledger } from './ledger/ledger.ts';
import { usage } from './ledger/usage.ts';

function faultOf(command: Command, ...args: string[]): string {
  try {
    parseArgs({ args, options: command.options, allowPositionals: true });
  } catch (error) {
    return toOptionFault(error, command, args);
  }
  throw new Error(`${args.join(' ')} was taken`);
}

test('help shows every action with what it takes, or every option', () => {
  const ofLedger = toHelp(ledger);
  assert.ok(ofLedger.some((line) => /^ {2}postern ledger tail .*\[--follow\|-f\]/.test(line)));
  assert.ok(ofLedger.includes('  postern ledger show ID [--json]'));
  assert.ok(toHelp(usage).includes('  --upstream VALUE'));
  assert.ok(toHelp(usage).includes('  --csv'));
});

test('an option that is not known is said in our words, with what was meant', () => {
  const faults: [args: string[], message: RegExp][] = [
    [['tail', '-n', '5'], /^unknown option -n; did you mean --limit\? \(usage: postern ledger tail \[--limit N\]/],
    [['tail', '--folow'], /^unknown option --folow; did you mean --follow\?/],
    [['tail', '--zzzzzzzz'], /^unknown option --zzzzzzzz \(usage/],
    [['tail', '--follow=1'], /^--follow takes no value \(usage/],
    [['tail', '--limit'], /^--limit needs a value; write one that begins with - as --limit=-\.\.\./],
    [['tail', '--limit', '-5'], /^--limit needs a value/],
    [['--zzzzzzzz'], /\(usage: postern ledger tail\|show\|verify /],
  ];
  for (const [args, message] of faults) assert.match(faultOf(ledger, ...args), message, args.join(' '));
});
