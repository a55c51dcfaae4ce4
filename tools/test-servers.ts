/**
 * `npm run test:servers -- --tei.rerank=http://127.0.0.1:3001`: tests real servers behind the gateway, and reports which are missing. Each flag
 * is also an environment variable: `--tei.rerank` is TEST_SERVER_TEI_RERANK, `--tei.rerank.model` the same with _MODEL.
 */

import { spawnSync } from 'node:child_process';
import { isSelfHosted, serverAt, serverKinds, toVariable } from '../test/servers/real-servers.ts';

const env: Record<string, string | undefined> = { ...process.env };
for (const argument of process.argv.slice(2)) {
  const [, name, value] = /^--([a-z0-9.-]+)=(.+)$/.exec(argument) ?? [];
  if (name === undefined || value === undefined)
    refuse(`"${argument}" is not of the form --tei.rerank=http://host:port`);
  env[toVariable(...name.split('.'))] = value;
}

const kinds = serverKinds();
for (const [name, value] of Object.entries(env)) {
  if (!name.startsWith(toVariable(''))) continue;
  const isKnown = kinds.some(({ family, variable }) =>
    [toVariable(family.id), variable].some((one) => [one, `${one}_MODEL`, `${one}_KEY`].includes(name)),
  );
  if (!isKnown) refuse(`${name} is no place of a family; the families are in docs/reference/families.md`);
  if (!/_(?:MODEL|KEY)$/.test(name) && !URL.canParse(value ?? '')) refuse(`${name} is no URL`);
}

const given = kinds.filter((kind) => serverAt(kind, env) !== undefined);
const missing = kinds.filter((kind) => isSelfHosted(kind.family) && !given.includes(kind));
let code = 0;
if (given.length > 0) {
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-reporter=spec',
    'test/servers/servers.test.ts',
  ];
  code = spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1;
}
console.log(`\ntried: ${given.map(nameOf).join(', ') || 'none'}`);
console.log(
  `without an address: ${missing.map(({ variable, ...kind }) => `${nameOf(kind)} (${variable})`).join(', ') || 'none'}`,
);
process.exitCode = code;

function nameOf({ family, operation }: Pick<(typeof kinds)[number], 'family' | 'operation'>): string {
  return `${family.id} ${operation}`;
}

function refuse(why: string): never {
  console.error(why);
  process.exit(1);
}
