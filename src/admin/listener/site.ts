/** Serves the console's built files, precompressed, and cached for good if their name has a hash. */

import { hash, randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { codeOf } from '../../lib/thrown.ts';

interface SiteDeps {
  /** The absolute path of the output of `npm run build:console`. */
  readonly directory: string;
  /** Makes a unique and unpredictable value for each page. */
  readonly nonce?: () => string;
}

/** The text in index.html that the nonce replaces. */
const noncePlaceholder = '__NONCE__';

const noFiles: ReadonlyMap<string, BuiltFile> = new Map();

const standing = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

export function createSite({ directory, nonce = () => randomBytes(18).toString('base64') }: SiteDeps) {
  let builtAtMs: number | undefined;
  let files = noFiles;
  // A tab opened before a new build still requests files of the previous one.
  let before = noFiles;
  let reading: Promise<void> | undefined;

  /** Reads the files again if there is another build; one check at a time. */
  function refresh(): Promise<void> {
    reading ??= readIfNew()
      .catch((error: unknown) => {
        // The build is being replaced: the next page finds it.
        if (codeOf(error) !== 'ENOENT') throw error;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  async function readIfNew(): Promise<void> {
    const changedAtMs = await changedAt(`${directory}/index.html`);
    if (changedAtMs === builtAtMs) return;
    const read = changedAtMs === undefined ? noFiles : await readBuild(directory);
    before = files;
    files = read;
    builtAtMs = changedAtMs;
  }

  function page(method: string): Response {
    const index = files.get('/index.html');
    const own = nonce();
    const html =
      index === undefined
        ? notBuilt(own)
        : index.bytes.identity.toString('utf8').replaceAll(noncePlaceholder, () => own);
    const body = Buffer.from(html);
    return new Response(method === 'HEAD' ? null : body, {
      status: index === undefined ? 503 : 200,
      headers: {
        ...standing,
        'content-type': 'text/html; charset=utf-8',
        'content-length': String(body.length),
        'cache-control': 'no-store',
        'content-security-policy': policyWith(own),
      },
    });
  }

  return {
    /** The response for a path; undefined where there is no such file or page. */
    async find(request: Request): Promise<Response | undefined> {
      const { method, headers } = request;
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      const { pathname } = new URL(request.url);
      if (pathname === '/api' || pathname.startsWith('/api/')) return undefined;
      if (pathname !== '/index.html') {
        if (files.size === 0) await refresh();
        const file = files.get(pathname) ?? before.get(pathname);
        if (file !== undefined) return send(file, request);
      }
      if (!isPage(pathname, headers.get('accept') ?? '*/*')) return undefined;
      await refresh();
      return page(method);
    },
  };
}

function send(file: BuiltFile, { method, headers: asked }: Request): Response {
  const coding = chooseCoding(file, asked.get('accept-encoding') ?? '');
  const bytes = file.bytes[coding] ?? file.bytes.identity;
  const etag = `"${file.digest}${coding === 'identity' ? '' : `-${coding}`}"`;
  const headers: Record<string, string> = {
    ...standing,
    'content-type': file.type,
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    vary: 'accept-encoding',
    etag,
  };
  if (isKnown(asked.get('if-none-match'), etag)) return new Response(null, { status: 304, headers });
  headers['content-length'] = String(bytes.length);
  if (coding !== 'identity') headers['content-encoding'] = coding;
  return new Response(method === 'HEAD' ? null : new Uint8Array(bytes), { headers });
}

const isKnown = (given: string | null, etag: string): boolean =>
  (given ?? '').split(',').some((one) => one.trim().replace(/^W\//, '') === etag);

function chooseCoding({ bytes }: BuiltFile, accepted: string): Coding {
  const taken = new Set<string>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) taken.add(name);
  }
  if (bytes.br !== undefined && taken.has('br')) return 'br';
  if (bytes.gzip !== undefined && taken.has('gzip')) return 'gzip';
  return 'identity';
}

/** Whether a page is asked for. `Accept` decides, as a page's path may have dots like a file's; clients of the gateway's API send another. */
function isPage(pathname: string, accept: string): boolean {
  return pathname === '/' || (accept.includes('text/html') && !/^\/(assets|v1|v2)\//.test(pathname));
}

function policyWith(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    // Audio answers and recordings of the playground.
    'media-src blob:',
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

const notBuilt = (nonce: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Postern: the console is not built</title>
<style nonce="${nonce}">body { font: 16px/1.6 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>The console is not built</h1>
<p>The gateway runs; what is missing here are the console's own pages. In the directory of this checkout:</p>
<pre>npm ci
npm run build:console</pre>
<p>Then reload this page. <code>npm start</code> does it by itself, and the published package brings them along.</p>
</html>
`;

/** The forms in which each file of the built console is kept and sent. */
type Coding = 'identity' | 'br' | 'gzip';

interface BuiltFile {
  readonly type: string;
  readonly digest: string;
  /** Whether the file's name contains a hash of its content. */
  readonly isHashed: boolean;
  readonly bytes: { readonly identity: Buffer; readonly br: Buffer | undefined; readonly gzip: Buffer | undefined };
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Reads the built files, by URL path; files of unknown types are left out. */
async function readBuild(directory: string): Promise<Map<string, BuiltFile>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const names = new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(directory.length).replaceAll('\\', '/')),
  );
  const files = new Map<string, BuiltFile>();
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined || name.includes('/.')) continue;
    const identity = await readFile(directory + name);
    const read = async (ending: string): Promise<Buffer | undefined> =>
      names.has(name + ending) ? readFile(directory + name + ending) : undefined;
    files.set(name, {
      type,
      digest: hash('sha256', identity, 'base64url').slice(0, 22),
      isHashed: name.startsWith('/assets/'),
      bytes: { identity, br: await read('.br'), gzip: await read('.gz') },
    });
  }
  return files;
}
