/** The unit of deploy/, as systemd itself judges it. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const unit = fileURLToPath(new URL('../../deploy/postern.service', import.meta.url));
/** Where CI is set it is never left out: the spawn fails there. */
const whyNot =
  process.env.CI !== 'true' && spawnSync('systemd-analyze', ['--version']).error !== undefined
    ? 'systemd-analyze is not installed (Debian: systemd)'
    : false;

function analyze(...args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  return { status, said: `${stdout}${stderr}` };
}

test('systemd-analyze finds no fault in the unit, except that the package is not installed here', {
  skip: whyNot,
}, () => {
  const { said } = analyze('verify', unit);
  const faults = said
    .split('\n')
    .filter((line) => line.includes('postern.service') && !/\/usr\/local\/bin\/postern is not executable/.test(line));
  assert.deepEqual(faults, []);
});

test("systemd-analyze security rates the unit's exposure below its threshold of 2.0", { skip: whyNot }, (t) => {
  const { status, said } = analyze('security', '--offline=yes', '--no-pager', '--threshold=20', unit);
  t.diagnostic(said.trim().split('\n').at(-1) ?? '');
  assert.equal(status, 0, said);
});
