import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandNames, loadCommand } from '../../src/cli/index.ts';
import { buildSite } from './build.ts';
import { findPages, movedPages } from './pages.ts';
import { find, type Section } from './search.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let site = '';
let files: readonly string[] = [];
const pageAt = (path: string): string => readFileSync(join(site, path), 'utf8');

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-site-'));
  site = join(folder, 'site');
  buildSite(root, site);
  files = globSync('**/*.html', { cwd: site });
});
after(() => rm(dirname(site), { recursive: true, force: true }));

test('every page of the docs is under a head or in a list of another page', () => {
  const { groups, pages } = findPages(root);
  assert.equal(
    groups.some(({ head }) => head === 'More'),
    false,
    'put the new page under a head in pages.ts',
  );
  assert.equal(files.length, pages.length + Object.keys(movedPages).length);
  for (const { source, path } of pages) {
    const isListed = groups.some((group) => group.pages.some((page) => page.source === source));
    if (isListed || source.startsWith('docs/adr/')) continue;
    assert.ok(
      files.some((other) => other !== path && linksOf(other).some((link) => link.startsWith(path))),
      source,
    );
  }
});

test('every link leads to a page and a head that are there', () => {
  const anchors = new Map(
    files.map((file) => [file, new Set([...pageAt(file).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const faults = files.flatMap((file) =>
    linksOf(file)
      .filter((link) => {
        const [path = '', anchor] = link.split('#', 2);
        if (!existsSync(join(site, path))) return true;
        return (
          anchor !== undefined && path.endsWith('.html') && anchors.get(path)?.has(decodeURIComponent(anchor)) !== true
        );
      })
      .map((link) => `${file}: ${link}`),
  );
  assert.deepEqual(faults, []);
});

test('no page asks another server for anything', () => {
  for (const file of files) {
    const text = pageAt(file);
    assert.match(text, /http-equiv="Content-Security-Policy" content="default-src 'none'/);
    assert.deepEqual([...text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="(?:[a-z]+:)?\/\/[^"]+"/g)], [], file);
  }
  for (const name of ['page.js', 'page.css', 'search.js']) assert.doesNotMatch(pageAt(name), /https?:\/\//);
});

test('the search finds a section by the beginnings of its words, the one about them first', () => {
  const sections = JSON.parse(pageAt('search.json')) as Section[];
  const first = (question: string): string | undefined => {
    const [found] = find(sections, question);
    return found === undefined ? undefined : `${found.section.page}#${found.section.anchor}`;
  };
  assert.equal(first('backup restore'), 'guides/store.html#backup-and-restore');
  assert.equal(first('memor bodi'), 'guides/limits.html#memory-for-bodies');
  assert.equal(first('cooking recipes'), undefined);
  assert.deepEqual(find(sections, '  '), []);
});

test('what the docs say to type are commands and options that there are', async () => {
  const commands = await Promise.all(commandNames.map(loadCommand));
  const { pages } = findPages(root);
  const faults: string[] = [];
  for (const { source } of pages.filter(({ source }) => !/^docs\/adr|CHANGELOG/.test(source))) {
    const text = readFileSync(join(root, source), 'utf8');
    for (const [, block = ''] of text.matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```$/gm)) {
      const lines = block.replaceAll('\\\n', ' ').split('\n');
      for (const said of lines.flatMap((line) => /^\$? ?(?:npx )?postern ([a-z][^#|&;]*)/.exec(line)?.[1] ?? [])) {
        const [name = '', ...args] = said.trim().split(/\s+/);
        const command = commands.find((one) => one.name === name);
        const options = args.flatMap((arg) => /^--([a-z-]+)/.exec(arg)?.[1] ?? []);
        if (command === undefined) faults.push(`${source}: postern ${name}`);
        else
          faults.push(
            ...options
              .filter((one) => !Object.hasOwn(command.options, one))
              .map((one) => `${source}: ${said} --${one}`),
          );
      }
    }
  }
  assert.deepEqual(faults, []);
});

test('a folder that is no site is left alone', async () => {
  await writeFile(join(dirname(site), 'mine'), 'mine');
  assert.throws(() => buildSite(root, dirname(site)), /is no site: name another folder/);
});

/** Within the site, from its root. */
function linksOf(file: string): string[] {
  const links = [...pageAt(file).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) =>
    link.replaceAll('&amp;', '&'),
  );
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => (link.startsWith('#') ? `${file}${link}` : posix.join(posix.dirname(file), link)));
}
