/** The collector of test/full/collector, built once for all tests. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const source = fileURLToPath(new URL('../../full/collector', import.meta.url));
const program = fileURLToPath(new URL('../../../node_modules/.cache/postern-collector', import.meta.url));

let building: Promise<string> | undefined;

export function collectorProgram(): Promise<string> {
  building ??= promisify(execFile)('go', ['build', '-o', program, '.'], { cwd: source }).then(() => program);
  return building;
}
