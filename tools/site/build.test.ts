import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endpoints } from '../../src/admin/endpoints.ts';
import { commandNames, loadCommand } from '../../src/cli/index.ts';
import { takenPaths } from '../../src/routes/index.ts';
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

test('every page of the docs is in a group of the menu or listed by another page', () => {
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

test('every link leads to an existing page and heading', () => {
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

test('no page loads anything from another server', () => {
  for (const file of files) {
    const text = pageAt(file);
    assert.match(text, /http-equiv="Content-Security-Policy" content="default-src 'none'/);
    assert.deepEqual([...text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="(?:[a-z]+:)?\/\/[^"]+"/g)], [], file);
  }
  for (const name of ['page.js', 'page.css', 'search.js']) assert.doesNotMatch(pageAt(name), /https?:\/\//);
});

test('the search finds a section by prefixes of its words, best match first', () => {
  const sections = JSON.parse(pageAt('search.json')) as Section[];
  const first = (question: string): string | undefined => {
    const [found] = find(sections, question);
    return found === undefined ? undefined : `${found.section.page}#${found.section.anchor}`;
  };
  assert.equal(first('backup restore'), 'guides/store.html#backup-and-restore');
  assert.equal(first('vector spac'), 'guides/load-balancing.html#vector-spaces');
  assert.equal(first('cooking recipes'), undefined);
  assert.deepEqual(find(sections, '  '), []);
});

test('commands, options, scripts and paths in the docs exist', async () => {
  const commands = await Promise.all(commandNames.map(loadCommand));
  const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
  const { pages } = findPages(root);
  const faults: string[] = [];
  for (const { source } of pages.filter(({ source }) => !/^docs\/adr|CHANGELOG/.test(source))) {
    const text = readFileSync(join(root, source), 'utf8');
    const lines = [...text.matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```$/gm)]
      .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
      .map((line) => line.replace(/\s#.*$/, ''));
    const inText = [...text.matchAll(/`((?:npx |bin\/)?postern [a-z][^`]*)`/g)].map(([, said = '']) => said);
    for (const said of [...lines, ...inText].flatMap(toPosternArguments)) {
      const [names = '', ...args] = said.trim().split(/\s+/);
      const options = args.flatMap((arg) => /^--([a-z-]+)/.exec(arg)?.[1] ?? []);
      const command = commands.find((one) => one.name === names);
      if (command === undefined && names !== 'help') faults.push(`${source}: postern ${names}`);
      for (const option of options) {
        if (option === 'help' || Object.hasOwn(command?.options ?? {}, option)) continue;
        faults.push(`${source}: postern ${said} has no --${option}`);
      }
    }
    for (const line of lines) {
      const [, script] = /\bnpm run ([a-z:-]+)/.exec(line) ?? [];
      if (script !== undefined && !scripts.includes(script)) faults.push(`${source}: npm run ${script}`);
      const [, url] =
        /\bcurl\b.*?"?(https?:\/\/(?:127\.0\.0\.1:400[01]|localhost|postern\.example)\/[^\s"?]*)/.exec(line) ?? [];
      if (url !== undefined && !isServed(new URL(url), text)) faults.push(`${source}: ${url}`);
    }
  }
  assert.deepEqual(faults, []);
});

test('a folder that is no generated site is not overwritten', async () => {
  await writeFile(join(dirname(site), 'mine'), 'mine');
  assert.throws(() => buildSite(root, dirname(site)), /is no site: name another folder/);
});

/** What follows `postern` in a line of a shell. */
function toPosternArguments(line: string): string[] {
  const [, said] = /^(?:\$ )?(?:[A-Z_]+=\S* )*(?:npx |bin\/)?postern ([a-z][^|&;>]*)/.exec(line) ?? [];
  return said === undefined ? [] : [said];
}

/** A path of the gateway or the admin API, or a custom route that the page declares. */
function isServed({ port, pathname }: URL, page: string): boolean {
  if (page.includes(`- path: ${pathname} `)) return true;
  const patterns = (port === '4001' ? endpoints : takenPaths).map(({ path }) => path);
  return patterns.some((pattern) => {
    const parts = pattern.split(/\{[^}]+\}|:\w+(?=\/|$)/).map((part) => RegExp.escape(part));
    return new RegExp(`^${parts.join('[^/]+')}$`).test(pathname);
  });
}

/** Within the site, from its root. */
function linksOf(file: string): string[] {
  const links = [...pageAt(file).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) =>
    link.replaceAll('&amp;', '&'),
  );
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => (link.startsWith('#') ? `${file}${link}` : posix.join(posix.dirname(file), link)));
}
