/** Measures the CPU time of command-line commands with a warm compile cache: `node bench/commands.ts [--rounds N]`. */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { formatTable } from './report.ts';

/** The longest acceptable time, in seconds of CPU. */
const barS = 0.4;

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const launcher = fileURLToPath(new URL('../bin/postern', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'postern-commands-'));
const reading = join(directory, 'cpu');
/** Runs first in the command's process. */
const watching = `import { writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync(${JSON.stringify(reading)}, JSON.stringify(process.cpuUsage())));`;

const rows = [
  '--help',
  'keys --help',
  'init',
  'keys create --name bench',
  'keys list',
  'members list',
  'check',
  'models',
];

/** Seconds, in user and kernel mode. */
async function cpuOf(args: readonly string[]): Promise<number> {
  await promisify(execFile)(launcher, args, {
    cwd: directory,
    env: { ...process.env, NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(watching)}` },
  });
  const { user, system } = JSON.parse(readFileSync(reading, 'utf8')) as NodeJS.CpuUsage;
  return (user + system) / 1e6;
}

try {
  const lines: string[][] = [];
  for (const row of rows) {
    const args = row.split(' ');
    if (row === 'init') args.push('--force');
    // The first run fills the cache.
    await cpuOf(args);
    const seconds: number[] = [];
    for (let round = 0; round < Number(options.rounds); round += 1) seconds.push(await cpuOf(args));
    seconds.sort((one, other) => one - other);
    const shown = [seconds[0], seconds[Math.floor(seconds.length / 2)], seconds.at(-1)].map((one = 0) =>
      one.toFixed(2),
    );
    lines.push([`postern ${row}`, ...shown, barS.toFixed(2)]);
  }
  console.log(formatTable([['command', 'least', 'median', 'most', 'bar'], ...lines]));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
