/**
 * Writes the token vocabularies of `src/lib/vocabularies/` from the package `js-tiktoken`, which is ten times as large. A test compares them
 * after each new version.
 */

import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';

for (const name of ['cl100k_base', 'o200k_base', 'p50k_base', 'r50k_base']) {
  const { default: vocabulary } = await import(`js-tiktoken/ranks/${name}`);
  const packed = brotliCompressSync(JSON.stringify(vocabulary), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
  });
  writeFileSync(`src/lib/vocabularies/${name}.json.br`, packed);
  console.log(`${name}: ${packed.length} bytes`);
}
