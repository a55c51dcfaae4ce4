import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../core/errors.ts';
import { renumbered, renumberedBody } from './renumbered.ts';

/** A part of three items: the 21st, the 8th and the 23rd of the list. */
const indexInWhole = (item: number): number | undefined => [20, 7, 22][item];
const inWhole = (text: string): string => renumberedBody(Buffer.from(text), indexInWhole).toString();
const inMessage = (message: string): string => JSON.parse(inWhole(JSON.stringify({ message }))).message;

test("an error about an item of a sub-call names its index in the whole list, in every upstream's notation", () => {
  for (const [said, wanted] of [
    ["Invalid 'input[1]': it cannot be empty.", "Invalid 'input[7]': it cannot be empty."],
    ['$.input[2] is invalid', '$.input[22] is invalid'],
    ['texts[0] and texts[2]', 'texts[20] and texts[22]'],
    ['input 1 is too long', 'input 7 is too long'],
    ['the document at index 2 is empty', 'the document at index 22 is empty'],
    ['Item #1: empty', 'Item #7: empty'],
    ['inputs.1.text: empty', 'inputs.7.text: empty'],
    ['* requests[1].content: required', '* requests[7].content: required'],
    ['empty string (index 1)', 'empty string (index 7)'],
  ]) {
    assert.equal(inMessage(said ?? ''), wanted);
  }
});

test("an error's numbers that are no item index of the sub-call stay unchanged", () => {
  for (const said of [
    'input 3 is too long',
    'this input has 2 tokens',
    'an input 2 tokens too long',
    'input[12]',
    'input 1.5',
    'at most 1 documents',
    'error 2 of 2',
    'line 1 column 2',
  ]) {
    assert.equal(inMessage(said), said);
  }
});

test('renumbers item indexes in message, param and loc of an error, and nowhere else', () => {
  assert.equal(
    inWhole(
      '{ "error" : {"message":"input[1] \\u00e9", "param":"input[1]","code":1,"input":"input[1]"}, "index":1 }\n',
    ),
    '{ "error" : {"message":"input[7] \\u00e9", "param":"input[7]","code":1,"input":"input[1]"}, "index":1 }\n',
  );
  assert.equal(
    inWhole('{"detail":[{"loc":["body","input",1,"text",2],"msg":"empty","input":"input 1"}]}'),
    '{"detail":[{"loc":["body","input",7,"text",22],"msg":"empty","input":"input 1"}]}',
  );
  assert.equal(inWhole('{"error":"document 2 is empty"}'), '{"error":"document 22 is empty"}');
  assert.equal(inWhole('document 2 is empty: é'), 'document 22 is empty: é');
  assert.equal(inWhole('<p>index 0</p>'), '<p>index 20</p>');
});

test("renumbers item indexes of the gateway's own errors in message, param and cause", () => {
  const made = renumbered(
    new GatewayError('unsupported_parameter', {
      param: 'input[1]',
      message: 'The field "input[1]".',
      cause: 'input 2',
    }),
    indexInWhole,
  );
  assert.ok(made instanceof GatewayError);
  assert.deepEqual([made.param, made.message, made.cause], ['input[7]', 'The field "input[7]".', 'input 22']);
});
