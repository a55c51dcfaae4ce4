/** The scanner against `JSON.parse`, on documents made at random, on broken ones and on known nasty ones. */

import { test } from 'node:test';
import { nastyDocuments } from '../../../test/support/json/json-documents.ts';
import { assertAgreement, scannerProperties } from '../../../test/support/json/scanner-oracle.ts';

const runs = 1000;

for (const { title, weight, hold } of scannerProperties()) {
  test(title, () => hold({ numRuns: runs * weight }));
}

test('judges every prefix of a valid body as JSON.parse does', async () => {
  const bodies = [
    '{"model":"text-embedding-3-small","input":["a","b \\u00e9 \\n",""],"dimensions":1.5e+10}',
    ' { "a" : [ 1 , -0.5 , 123456789 , [ ] , { } , true , false , null ] , "é€😀" : "\\ud83d\\ude00" } \n',
    '[[1,22,333,4444,55555,666666,7777777,88888888,999999999],["","a",", ","\\"",":"]]',
    '"a long text that is over the size of any word and a \\\\ in it, plus some 模型 after it"',
    '-12345678901234567890.1234567890e-12',
  ];
  for (const text of bodies) {
    const body = Buffer.from(text);
    for (let end = 0; end <= body.length; end++) await assertAgreement(body.subarray(0, end), 1 + (end % 7));
  }
});

test('judges tricky documents as JSON.parse does, at any nesting', async () => {
  for (const nasty of nastyDocuments) {
    const wraps = [
      ['', ''],
      ['{"a":', '}'],
      ['{"a":1,"b":', ',"c":1}'],
      ['[', ']'],
      ['[1,', ',2]'],
      ['["a",', ',"b"]'],
      ['{"a":"', '"}'],
      ['{"', '":1}'],
      [`{"${'a'.repeat(5000)}":`, '}'],
    ] as const;
    for (const [before, after] of wraps) {
      const body = Buffer.concat([Buffer.from(before), Buffer.from(nasty), Buffer.from(after)]);
      await assertAgreement(body, before.length > 100 ? 1000 : 3);
    }
  }
});
