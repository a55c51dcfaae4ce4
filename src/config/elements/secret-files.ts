/** Reads secrets that stand in files of their own (`token_file` instead of `token`); once read, they are treated like written ones. */

import * as z from 'zod';
import { isMapping } from '../../lib/is-mapping.ts';
import { type FaultList, type Path, toPathText } from '../read/faults.ts';
import type { FileContent, SideFiles } from '../read/side-files.ts';
import type { Substitution } from '../read/substitute.ts';
import { OwnedTree } from '../read/tree.ts';
import type { ConfigurationDocument } from './document.ts';
import { configurationSchema } from './schema.ts';
import { eachElement, settingsIn } from './schema-lookup.ts';

interface SecretField {
  readonly steps: readonly string[];
  readonly name: string;
  readonly fileName: string;
}

const secretFields: readonly SecretField[] = [...settingsIn(configurationSchema)].flatMap(({ path, schema }) => {
  const name = schema instanceof z.ZodType ? schema.meta()?.holds : undefined;
  const fileName = path.at(-1);
  return name === undefined || fileName === undefined ? [] : [{ steps: path.slice(0, -1), name, fileName }];
});

export function secretFilesIn(tree: unknown): string[] {
  return secretFields.flatMap((field) =>
    mappingsAt(tree, field).flatMap(({ mapping }) => {
      const file = mapping[field.fileName];
      return typeof file === 'string' ? [file] : [];
    }),
  );
}

/** The configuration with the secrets from its secret files, which no message repeats. */
export function withSecrets(
  { tree, substituted, names }: Substitution,
  files: SideFiles,
  faults: FaultList,
): Substitution {
  const all = new Set(substituted);
  const own = new OwnedTree(tree);
  for (const field of secretFields) {
    for (const { mapping, path } of mappingsAt(own.tree, field)) {
      const file = mapping[field.fileName];
      if (typeof file !== 'string') continue;
      const at = [...path, field.fileName];
      const secret = readSecret(files.content(file));
      if (mapping[field.name] !== undefined) faults.add(at, `stands beside ${field.name}; keep one of the two`);
      else if ('reason' in secret) {
        faults.add(at, `the file cannot be used: ${secret.reason}`);
        faults.hush([...path, field.name]);
      } else {
        own.put([...path, field.name], secret.text);
        all.add(toPathText([...path, field.name]));
      }
    }
  }
  return {
    tree: own.tree,
    isSubstituted: (path) => all.size > 0 && all.has(toPathText(path)),
    substituted: all,
    names,
  };
}

/** The secret in a file: one line, without white space around it. */
export function readSecret(content: FileContent): FileContent {
  if ('reason' in content) return content;
  const text = content.text.trim();
  if (text === '') return { reason: 'it is empty' };
  return /[\r\n]/.test(text) ? { reason: 'it holds more than one line' } : { text };
}

interface Found {
  readonly mapping: Readonly<Record<string, unknown>>;
  readonly path: Path;
}

function mappingsAt(tree: unknown, { steps }: SecretField): Found[] {
  let found: { readonly value: unknown; readonly path: Path }[] = [{ value: tree, path: [] }];
  for (const step of steps) {
    found = found.flatMap(({ value, path }) => {
      if (step !== eachElement) return isMapping(value) ? [{ value: value[step], path: [...path, step] }] : [];
      return Array.isArray(value) ? value.map((item: unknown, index) => ({ value: item, path: [...path, index] })) : [];
    });
  }
  return found.flatMap(({ value, path }) => (isMapping(value) ? [{ mapping: value, path }] : []));
}

export function filesNamedIn({ settings, upstreams }: ConfigurationDocument): string[] {
  const { tls } = settings.server;
  const ofUpstreams = upstreams.flatMap(({ value }) => [
    value.api_key_file,
    ...(value.credentials ?? []).map((one) => one.api_key_file),
    value.tls?.ca,
    value.tls?.cert,
    value.tls?.key,
  ]);
  return [tls?.cert, tls?.key, ...ofUpstreams].filter((path) => path !== undefined);
}
