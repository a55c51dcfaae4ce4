/** Builds the docs site: pages and a search, without requests to other servers. */

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { version } from '../../src/version.ts';
import { escapeHtml, type Rendered, render } from './markdown.ts';
import { findPages, type Group, movedPages, type Page } from './pages.ts';
import type { Section } from './search.ts';

const repositoryUrl = 'https://github.com/postern/postern';
/** A page of the site may load only files of the site. */
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'";
/** The marker file of a site: other folders are not overwritten. */
const marker = 'search.json';

/** Builds the site and returns the number of pages. */
export function buildSite(root: string, target: string): number {
  const { groups, pages } = findPages(root);
  const bySource = new Map(pages.map((page) => [page.source, page]));
  if (existsSync(target) && !existsSync(join(target, marker))) {
    throw new Error(`${target} is there, and is no site: name another folder`);
  }
  rmSync(target, { recursive: true, force: true });
  const images = new Set<string>();
  const rendered = pages.map((page) => {
    const text = readFileSync(join(root, page.source), 'utf8');
    return { page, ...render(text, (href) => leadTo(href, page, { root, bySource, images })) };
  });
  const titles = new Map(rendered.map(({ page, title }) => [page.path, page.words ?? title]));
  const sections: Section[] = [];
  for (const { page, ...content } of rendered) {
    write(join(target, page.path), toDocument(page, content, groups, titles));
    sections.push(...content.sections.map((section) => ({ page: page.path, title: content.title, ...section })));
  }
  for (const [from, to] of Object.entries(movedPages)) write(join(target, `${from}.html`), toRedirect(`${to}.html`));
  for (const image of images) cpSync(join(root, image), join(target, imagePath(image)));
  write(join(target, marker), JSON.stringify(sections));
  const beside = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
  write(join(target, 'search.js'), stripTypeScriptTypes(beside('search.ts')));
  for (const name of ['page.js', 'page.css']) write(join(target, name), beside(name));
  return pages.length;
}

interface Surroundings {
  readonly root: string;
  readonly bySource: ReadonlyMap<string, Page>;
  /** Images that the pages need; they are copied. */
  readonly images: Set<string>;
}

/** The target of a link: a page of the docs is in the site, an image beside it, and anything else in the repository. */
function leadTo(href: string, from: Page, { root, bySource, images }: Surroundings): string {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#', 2);
  const source = posix.normalize(posix.join(posix.dirname(from.source), path)).replace(/\/$/, '');
  const page = bySource.get(source);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (page !== undefined) return `${toHome(from.path)}${page.path}${hash}`;
  if (!existsSync(join(root, source))) throw new Error(`${from.source} links to ${href}, which is not there`);
  if (/\.(svg|png)$/.test(source)) {
    images.add(source);
    return `${toHome(from.path)}${imagePath(source)}`;
  }
  return `${repositoryUrl}/blob/v${version}/${source}${hash}`;
}

const imagePath = (source: string): string => posix.join('images', posix.basename(source));
const toHome = (path: string): string => '../'.repeat(path.split('/').length - 1);

function toDocument(
  page: Page,
  { title, html }: Rendered,
  groups: readonly Group[],
  titles: ReadonlyMap<string, string>,
): string {
  const home = toHome(page.path);
  const lists = groups.map(({ head, pages }) => {
    const items = pages.map(({ path }) => {
      const current = path === page.path ? ' aria-current="page"' : '';
      return `<li><a href="${home}${path}"${current}>${escapeHtml(titles.get(path) ?? path)}</a></li>`;
    });
    return `<h2>${head}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
  });
  return `<!doctype html>
<html lang="en" data-home="${home}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}${title === 'Postern' ? '' : ' · Postern'}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${home}page.css">
<script type="module" src="${home}page.js"></script>
</head>
<body>
<nav aria-label="pages">
<strong>Postern ${escapeHtml(version)}</strong>
${lists.join('\n')}
</nav>
<main>
<input id="question" type="search" placeholder="Search (/)" aria-label="Search the docs" autocomplete="off">
<ol id="found"></ol>
${html}
</main>
</body>
</html>
`;
}

function toRedirect(to: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta http-equiv="refresh" content="0; url=${to}">
<title>Moved</title>
</head>
<body><a href="${to}">This page has moved.</a></body>
</html>
`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
