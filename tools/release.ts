/**
 * `npm run release`: turns the pending changesets into a version: updates `CHANGELOG.md` and the chart, and deletes them. `--check` only prints
 * the version, and fails on an unreadable changeset.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import applyReleasePlan from '@changesets/apply-release-plan';
import { assembleReleasePlan } from '@changesets/assemble-release-plan';
import { readConfig } from '@changesets/config';
import { readChangesets } from '@changesets/read';
import { z } from 'zod';

const manifest = z.looseObject({ name: z.string(), version: z.string() });

const rootDir = process.cwd();
const packageJson = manifest.parse(JSON.parse(readFileSync('package.json', 'utf8')));
const root = { dir: rootDir, packageJson };
// Changesets' own command handles only the packages of a workspace, but the gateway is the root package.
const packages = { rootDir, rootPackage: root, packages: [root], tool: { type: 'root' } };

const { config, errors } = await readConfig(rootDir, packages);
if (config === undefined) throw new Error(`.changeset/config.json: ${errors.join('; ')}`);
const plan = assembleReleasePlan(await readChangesets(rootDir), packages, config, undefined);
const [release] = plan.releases;
if (release === undefined) {
  console.log(`${packageJson.version} is what there is; no changeset waits`);
} else if (process.argv.includes('--check')) {
  console.log(`${plan.changesets.length} changesets make ${release.newVersion} of ${release.oldVersion}`);
} else {
  await applyReleasePlan(plan, packages, config);
  const chart = readFileSync('deploy/chart/Chart.yaml', 'utf8');
  writeFileSync(
    'deploy/chart/Chart.yaml',
    chart.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${release.newVersion}`),
  );
  console.log(
    `${release.newVersion}: commit, tag it v${release.newVersion}, and add its row to docs/reference/releases.md`,
  );
}
