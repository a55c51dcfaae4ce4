import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mock, type TestContext, test } from 'node:test';
import { createDirectory } from '../../../test/support/gateways/configuration.ts';
import { until } from '../../../test/support/time/until.ts';
import { watchConfiguration } from './live.ts';

const intervalMs = 5;

/** Counts reports; `next` waits for one more, `quiet` for many polls without one. */
async function startWatch(t: TestContext, files: () => readonly string[], readAtMs = Number.POSITIVE_INFINITY) {
  const onChange = mock.fn();
  const looks = mock.fn(files);
  const watch = watchConfiguration({ files: looks, readAtMs: () => readAtMs, intervalMs, onChange });
  t.after(() => watch.stop());
  const forLooks = (count: number) => {
    const from = looks.mock.callCount();
    return until(() => looks.mock.callCount() >= from + count);
  };
  await forLooks(2);
  return {
    watch,
    reports: () => onChange.mock.callCount(),
    looks: () => looks.mock.callCount(),
    next: () => {
      const from = onChange.mock.callCount();
      return until(() => onChange.mock.callCount() > from);
    },
    quiet: () => forLooks(8),
  };
}

test('reports a change of a watched file once', async (t) => {
  const directory = await createDirectory(t, { a: '1' });
  const { next, quiet, reports } = await startWatch(t, () => [join(directory, 'a')]);
  await writeFile(join(directory, 'a'), '22');
  await next();
  await quiet();
  assert.equal(reports(), 1);
});

test('reports a file that changed between its reading and the first poll', async (t) => {
  const directory = await createDirectory(t, { a: '1', b: '1' });
  const paths = [join(directory, 'a'), join(directory, 'b')];
  const { ctimeMs } = await stat(join(directory, 'b'));
  const { quiet, reports } = await startWatch(t, () => paths, ctimeMs - 1);
  await quiet();
  assert.equal(reports(), 1);
});

test('reports nothing when no watched file changes', async (t) => {
  const directory = await createDirectory(t, { a: '1' });
  const { quiet, reports } = await startWatch(t, () => [join(directory, 'a'), join(directory, 'missing')]);
  await quiet();
  assert.equal(reports(), 0);
});

test('reports a watched file that is replaced by renaming, removed or restored', async (t) => {
  const directory = await createDirectory(t, { a: '1', b: '2' });
  const path = join(directory, 'a');
  const { next, reports } = await startWatch(t, () => [path]);
  await rename(join(directory, 'b'), path);
  await next();
  await rm(path);
  await next();
  await writeFile(path, '1');
  await next();
  assert.equal(reports(), 3);
});

test('reports a watched link that points to another file', async (t) => {
  const directory = await createDirectory(t, { one: '1', two: '2' });
  const path = join(directory, 'link');
  await symlink('one', path);
  const { next, reports } = await startWatch(t, () => [path]);
  await symlink('two', join(directory, 'new'));
  await rename(join(directory, 'new'), path);
  await next();
  assert.equal(reports(), 1);
});

test('reports a watched file only after writing to it has stopped', async (t) => {
  const directory = await createDirectory(t, { a: '' });
  const path = join(directory, 'a');
  let text = '';
  const { next, reports, quiet } = await startWatch(t, () => {
    if (text.length > 0 && text.length < 10) {
      text += 'x'; // another piece at every poll
      writeFileSync(path, text);
    }
    return [path];
  });
  text = 'x';
  await next();
  const lengthWhenReported = text.length;
  await quiet();
  assert.equal(lengthWhenReported, 10);
  assert.equal(reports(), 1);
});

test('watches files that a reload added, without reporting them as changed', async (t) => {
  const directory = await createDirectory(t, { a: '1', b: '1' });
  const files = [join(directory, 'a')];
  const { next, quiet, reports } = await startWatch(t, () => [...files]);
  files.push(join(directory, 'b'));
  await quiet();
  assert.equal(reports(), 0);
  await writeFile(join(directory, 'b'), '22');
  await next();
  assert.equal(reports(), 1);
});

test('check() reports a change at once', async (t) => {
  const { watch, reports, quiet } = await startWatch(t, () => []);
  watch.check();
  assert.equal(reports(), 1);
  await quiet();
  assert.equal(reports(), 1);
});

test('stops watching files after stop()', async (t) => {
  const directory = await createDirectory(t, { a: '1' });
  const { watch, looks, reports } = await startWatch(t, () => [join(directory, 'a')]);
  watch.stop();
  const before = looks();
  await writeFile(join(directory, 'a'), '22');
  await new Promise((resolve) => setTimeout(resolve, intervalMs * 10));
  assert.ok(looks() <= before + 1);
  assert.equal(reports(), 0);
});
