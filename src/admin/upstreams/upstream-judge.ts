/** Checks an upstream that the console sends beyond its schema: where credentials may go, and which local files it may name. */

import { isDeepStrictEqual } from 'node:util';
import type { FieldFault } from '../../core/field-fault.ts';
import type { ConfiguredElement, ElementDocument, ResourceEditor } from '../../core/resource-editor.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { faultsProblem } from '../resource-write.ts';

interface JudgedUpstream {
  readonly warnings: readonly string[];
  /** The upstream as it would be; undefined where other faults keep the configuration from being in force. */
  readonly upstream: Upstream | undefined;
}

/** Checks the document of an upstream. Throws a Problem that names the faulty fields. */
export async function judgeUpstream(
  resources: ResourceEditor,
  id: string,
  document: ElementDocument,
): Promise<JudgedUpstream> {
  const element = await resources.get('upstream', id);
  const before = element?.managedBy === 'store' ? element : undefined;
  const preview = await resources.preview('upstream', id, document);
  const faults = [...fileFaults(document, before?.document)];
  if (preview.outcome === 'faulty') throw faultsProblem([...faults, ...preview.faults]);
  const upstream = preview.snapshot?.upstreams.get(id);
  if (before !== undefined) faults.push(...(await originFaults(resources, before, document, upstream)));
  if (faults.length > 0) throw faultsProblem(faults);
  return { warnings: preview.warnings, upstream };
}

/** Whether a text stands for a secret that `hideSecrets` has hidden. */
const isShownSecret = (text: string): boolean => /^\(sealed(?: [^()]+)?\)$/.test(text);

/** Fields that name a file. The console must not be able to send the content of just any file to an upstream. */
const fileFields = /^(?:api_key_file|credentials\[\d+\]\.api_key_file|tls\.(?:ca|cert|key))$/;

/** Refuses new file names: members of the console may lack permission to read this machine's files. */
function fileFaults(document: ElementDocument, before: ElementDocument | undefined): FieldFault[] {
  const known = new Set(
    before === undefined ? [] : textsIn(before).flatMap(([path, text]) => (fileFields.test(path) ? [text] : [])),
  );
  return textsIn(document).flatMap(([path, text]) =>
    !fileFields.test(path) || known.has(text)
      ? []
      : [
          {
            path,
            message:
              'names a file on the machine of the gateway; this is allowed only in the configuration file, or with "postern resources apply"',
          },
        ],
  );
}

/** Refuses a new address with an old credential: a stored credential belongs to one address, and must not be sent elsewhere. */
async function originFaults(
  resources: ResourceEditor,
  before: ConfiguredElement,
  document: ElementDocument,
  upstream: Upstream | undefined,
): Promise<FieldFault[]> {
  if (isSameOrigin(before.document, document)) return [];
  const was = await resources.preview('upstream', before.id, before.document);
  const origin = was.outcome === 'fine' ? was.snapshot?.upstreams.get(before.id)?.origin : undefined;
  if (origin !== undefined && upstream !== undefined && origin === upstream.origin) return [];
  const from = origin === undefined ? 'another address' : origin;
  const to = upstream?.origin === undefined ? 'this one' : upstream.origin;
  return textsIn(document).flatMap(([path, text]) => {
    if (isShownSecret(text)) {
      return [{ path, message: `was entered for ${from}; enter it again, as it would now be sent to ${to}` }];
    }
    if (!fileFields.test(path) || path === 'tls.ca') return [];
    return [{ path, message: `holds a secret for ${from}; change the address with "postern resources apply"` }];
  });
}

/** Whether the fields that decide where calls go are equal. */
function isSameOrigin(before: ElementDocument, after: ElementDocument): boolean {
  return ['family', 'base_url', 'options'].every((name) => isDeepStrictEqual(before[name], after[name]));
}

/** Every text in a document, with its path. */
function textsIn(value: unknown, path = ''): (readonly [path: string, text: string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, path === '' ? key : `${path}.${key}`));
}
