import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startGatewayProcess } from './gateway-process.ts';

/** A stand-in for the gateway: what the rig reads of it, and nothing else. */
const standIn = `
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [, , command, , file] = process.argv;
const config = JSON.parse(readFileSync(file, 'utf8'));
if (config.broken) {
  console.error('the configuration is broken');
  process.exit(1);
}
let asked = 0;
const server = createServer((request, response) => {
  asked += 1;
  response.writeHead(asked > 2 ? 200 : 503).end();
});
server.listen(config.server.port, '127.0.0.1', () => {
  console.log('a line for people');
  console.log(JSON.stringify({ msg: 'listening', port: server.address().port, command, keys: config.keys, secret: process.env.SECRET, inherited: process.env.POSTERN_TEST_INHERITED }));
});
process.once('SIGTERM', () => {
  console.log(JSON.stringify({ msg: 'stopped', asked }));
  process.exit(7);
});
`;

async function standInCommand(t: TestContext): Promise<[string, string]> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-stand-in-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const file = join(directory, 'stand-in.mjs');
  await writeFile(file, standIn);
  return [process.execPath, file];
}

test('a process is returned when it reports ready, and cleaned up when it stops', async (t) => {
  process.env.POSTERN_TEST_INHERITED = 'yes';
  t.after(() => {
    delete process.env.POSTERN_TEST_INHERITED;
  });
  const gateway = await startGatewayProcess({
    command: await standInCommand(t),
    config: {},
    env: { SECRET: 's' },
  });
  const [listening] = gateway.log();
  assert.equal(listening?.port, gateway.port);
  assert.equal(listening?.command, 'serve');
  assert.equal(listening?.secret, 's');
  assert.equal(listening?.inherited, undefined);
  assert.deepEqual(listening?.keys, [{ id: 'test', secret: gateway.key }]);
  assert.match(gateway.stdout(), /^a line for people\n/);
  assert.ok((await gateway.rssBytes()) > 1024 * 1024);

  const exit = await gateway.stop();
  assert.deepEqual(exit, { code: 7, signal: null });
  assert.deepEqual(await gateway.exited, exit);
  assert.deepEqual(gateway.log().at(-1), { msg: 'stopped', asked: 3 });
  assert.equal(existsSync(gateway.directory), false);
});

test('a signal is delivered to the process', async (t) => {
  const gateway = await startGatewayProcess({ command: await standInCommand(t), config: {} });
  gateway.signal('SIGKILL');
  assert.deepEqual(await gateway.exited, { code: null, signal: 'SIGKILL' });
  await gateway.stop();
});

test('a process that ends before it is ready fails the start with its output', async (t) => {
  await assert.rejects(
    startGatewayProcess({ command: await standInCommand(t), config: { broken: true } }),
    /the configuration is broken/,
  );
});

test('a command that does not exist fails the start', async () => {
  await assert.rejects(startGatewayProcess({ command: ['/no/such/command'], config: {} }), /did not become ready/);
});
