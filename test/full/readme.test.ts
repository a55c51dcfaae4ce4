/** The examples of the README run as they are pasted, with a key and an address that are at hand. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installForeign, pythonIn } from '../matrix/install.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const local = { upstreams: [{ id: 'local', family: 'local' }] };

test("the README's examples print the expected output", async (t) => {
  await installForeign();
  const gateway = await startGatewayProcess({
    config: {
      ...local,
      models: [
        { id: 'local/hash-embed', operations: ['embeddings'], price: 'free', targets: [{ upstream: 'local' }] },
        { id: 'local/bm25', operations: ['rerank'], price: 'free', targets: [{ upstream: 'local' }] },
        { id: 'local/echo', operations: ['chat'], price: 'free', targets: [{ upstream: 'local' }] },
      ],
    },
  });
  t.after(() => gateway.stop());
  // Within the checkout, where its packages are found.
  const directory = await mkdtemp(join(root, 'node_modules/.cache/readme-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const env = { ...process.env, POSTERN_KEY: gateway.key };
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const example = (language: string, holding: string): string => {
    const blocks = [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
      ([, code = '']) => code,
    );
    const found = blocks.find((code) => code.includes(holding));
    assert.ok(found !== undefined, `no ${language} with ${holding}`);
    return found.replaceAll('http://127.0.0.1:4000', gateway.url);
  };

  await writeFile(join(directory, 'example.py'), example('python', 'OpenAI('));
  const python = await run(pythonIn('newest'), [join(directory, 'example.py')], { env });
  assert.match(python.stdout, /prompt_tokens=/);
  assert.match(python.stdout, /content='hello/);

  await writeFile(join(directory, 'example.mjs'), example('js', 'CohereClientV2('));
  const node = await run(process.execPath, [join(directory, 'example.mjs')], { env });
  assert.match(node.stdout, /relevanceScore/);

  const curl = await run('bash', ['-c', example('sh', 'curl http')], { env });
  assert.equal(JSON.parse(curl.stdout).results.length, 2);
});
