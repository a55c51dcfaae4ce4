import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atMost, within } from '../test/chaos/promise.ts';
import { formatOutcomes, hasFailed, moneyStoryNo, replaceFigures, storyNo, toVerdict } from './chaos-report.ts';

const outcome = { no: 9, title: 'cut anywhere', seconds: 1, failure: undefined };
const kept = { ...outcome, figures: [atMost('wrong | answers', 0, 0)] };
const late = { ...outcome, no: 10, figures: [within('delay', 60, 50)] };
const broken = {
  ...outcome,
  no: 11,
  figures: [{ ...atMost('lost', 2, 0), measured: `2 of 9; the first: ${'x'.repeat(50)}` }],
};
const failed = { ...outcome, no: 12, figures: [], failure: 'it threw' };

test('a chaos run fails for broken guarantees or exceptions, not for a missed target time', () => {
  assert.deepEqual([kept, late, broken, failed].map(hasFailed), [false, false, true, true]);
  assert.deepEqual([kept, late, broken, failed].map(toVerdict), [
    'kept',
    'kept, but 1 of 1 figures missed their bar',
    'broken, 1 of 1 figures',
    'failed',
  ]);
});

test('the report shows each figure beside its target, and marks a missed one', () => {
  const text = formatOutcomes([kept, late, failed], process.stdout);
  assert.match(text, /^ {2}wrong \| answers {2}0 {9}0 {14}.*met$/m);
  assert.match(
    formatOutcomes([broken], process.stdout),
    /^ {2}lost {4}2 of 9 .*broken\n {6}2 of 9; the first: x{50}$/m,
  );
  assert.match(text, /^Missed, though not broken: 10, delay: 60 ms; the bar is at most 50 ms\.$/m);
  assert.match(text, /^Promises kept: 2 of 3; not kept: 12\.$/m);
});

test('the page in the docs gets the newly measured sections and keeps the others', () => {
  const document = `# Title\n\n<!-- figures -->\n<!-- /figures -->\n\nend\n`;
  const first = replaceFigures(document, [kept, late, failed], 'long');
  assert.equal(
    first,
    `# Title

<!-- figures -->

### 9: cut anywhere

\`npm run chaos -- --only 9\`

| figure | goal | measured | met |
|---|---|---|---|
| wrong \\| answers | 0 | 0 | yes |

### 10: cut anywhere

\`npm run chaos -- --only 10\`

| figure | goal | measured | met |
|---|---|---|---|
| delay | at most 50 ms | 60 ms | no |

<!-- /figures -->

end
`,
  );
  const again = replaceFigures(first, [{ ...late, figures: [within('delay', 5, 50)] }], 'short');
  assert.match(again, /^### 9: cut anywhere\n\n`npm run chaos -- --only 9`$/m);
  assert.match(again, /^### 10: cut anywhere\n\n`npm run chaos -- --only 10 --short`$/m);
  assert.match(again, /^\| delay \| at most 50 ms \| 5\.0 ms \| yes \|$/m);
  const replaced = replaceFigures(
    again,
    [
      { ...kept, no: moneyStoryNo },
      { ...kept, no: storyNo },
    ],
    'long',
  );
  assert.deepEqual(
    [...replaceFigures(replaced, [{ ...kept, no: moneyStoryNo }], 'long').matchAll(/^### ([a-z0-9-]+): cut/gm)].map(
      ([, name]) => name,
    ),
    ['story', 'money-story', '9', '10'],
  );
  assert.throws(() => replaceFigures('no markers', [kept], 'long'), /has no <!-- figures -->/);
});
