import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInstruction } from './edit-instructions.ts';

const follow = (instruction: string, text: string): string =>
  readInstruction(instruction, 10_000).reduce((edited, edit) => edit(edited), text);

test('understands each instruction in several wordings', () => {
  const rows: [text: string, edited: string, ...instructions: string[]][] = [
    [
      'Hello wörld',
      'HELLO WÖRLD',
      'upper case',
      'Make it UPPERCASE!',
      'convert to upper-case letters',
      'write this in all caps',
      'in capital letters, please',
    ],
    ['Hello WÖRLD', 'hello wörld', 'lowercase', 'Please convert this to lower case.', 'in small letters'],
    [
      "the dog's tale, ÉTUDE",
      "The Dog's Tale, Étude",
      'title case',
      'Capitalize every word',
      'capitalise the first letter of each word',
      'capitalise all the words',
    ],
    ['  the end', '  The end', 'capitalise', 'Capitalize the sentence', 'sentence case'],
    [
      '  \n a b \t ',
      'a b',
      'trim',
      'Trim the white space',
      'strip it',
      'remove leading and trailing spaces',
      'delete surrounding white space',
    ],
    [
      'one  two three\nfour five',
      'three two  one\nfive four',
      'reverse the words',
      'reverse word order',
      'Reverse the order of all words',
    ],
    ['b\nc\na', 'a\nb\nc', 'sort lines', 'Sort the lines alphabetically', 'alphabetize'],
    ['a\nb\nc', 'c\nb\na', 'reverse lines', 'Reverse the order of the lines', 'reverse line order'],
    [
      'a\nb\na\nc\nb',
      'a\nb\nc',
      'remove duplicate lines',
      'dedupe',
      'Deduplicate the lines',
      'delete all repeated lines',
      'drop duplicates',
    ],
    [
      'a cat, a CAT',
      'a dog, a CAT',
      'replace "cat" with "dog"',
      "Change 'cat' to 'dog'",
      'replace every “cat” by “dog”',
      'Replace all `cat` with `dog`',
    ],
  ];
  for (const [text, edited, ...instructions] of rows) {
    for (const instruction of instructions) assert.equal(follow(instruction, text), edited, instruction);
  }
});

test('follows several instructions in order', () => {
  assert.equal(follow('sort the lines in descending order', 'b\nc\na'), 'c\nb\na');
  assert.equal(follow('Trim, then remove duplicate lines and sort them', ' b\na\nb '), 'a\nb');
  assert.equal(follow('upper case, and replace "A" with "x"', 'banana'), 'BxNxNx');
  assert.equal(follow('replace "a" with "x" and make it upper case', 'banana'), 'BXNXNX');
});

test('text in quotes in an edit instruction is used literally', () => {
  assert.equal(follow('replace "upper case" with "$& lower case"', 'is upper case'), 'is $& lower case');
  assert.equal(follow('replace "it\'s" with ""', "it's ok"), ' ok');
  assert.equal(follow('replace "" with "x"', 'abc'), 'abc');
  assert.equal(follow('replace "." with "!"', 'a.b'), 'a!b');
});

test('leaves the text unchanged for an unknown instruction', () => {
  for (const instruction of [
    '',
    'Fix the spelling mistakes',
    'Translate to French',
    'Do not upper case this',
    "don't sort it",
    `${'x '.repeat(2_000)} upper case`,
  ]) {
    assert.equal(follow(instruction, 'Some Text'), 'Some Text', instruction);
  }
});

test('sorting lines splits a text at Windows line endings too', () => {
  assert.equal(follow('sort lines', 'b\r\na'), 'a\nb');
});

test('refuses a replacement that would grow the text beyond the limit', () => {
  assert.throws(() => follow(`replace "a" with "${'b'.repeat(200)}"`, 'a'.repeat(100)), {
    code: 'invalid_value',
    param: 'instruction',
  });
});
