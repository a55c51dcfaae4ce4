/** Makes up the secrets of deploy/compose.yaml where they are not there yet, and gives folders to those who write to them. */

import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';

const folder = '/run/secrets';
/** Users of the images. */
const node = 65532;
const grafana = 472;
const collector = 10001;

const made = (bytes, encoding) => randomBytes(bytes).toString(encoding);

function secret(name, { owner, mode = 0o400, value }) {
  const path = `${folder}/${name}`;
  if (!existsSync(path)) {
    writeFileSync(path, value, { mode });
    chownSync(path, owner, owner);
  }
  return readFileSync(path, 'utf8');
}

const password = secret('postgres-password', { owner: 0, value: made(24, 'hex') });
secret('store-url', { owner: node, value: `postgres://postern:${password}@postgres:5432/postern` });
const secretKey = secret('secret-key', { owner: node, value: made(32, 'hex') });
// Nodes and Prometheus read it, which are different users; none but services with this folder see it.
const consoleToken = secret('console-token', { owner: node, mode: 0o444, value: made(32, 'base64url') });
const grafanaPassword = secret('grafana-password', { owner: grafana, value: made(18, 'base64url') });
chownSync('/traces', collector, collector);

if (argv[2] === 'show') {
  console.log(`console token     ${consoleToken}`);
  console.log(`Grafana           admin, ${grafanaPassword}`);
  console.log(`PostgreSQL        postern, ${password}`);
  console.log(`key of the store  ${secretKey} (keep a copy: without it the credentials in the store are lost)`);
}
