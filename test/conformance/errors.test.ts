/** Every error that Postern answers with, exactly as it looks on the wire. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { errorTable } from '../../src/core/errors.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { clientId, errorRows, openSetup, secrets, toBytes } from '../support/clients/error-rows.ts';
import { send, toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';

for (const row of errorRows) {
  test(`error ${row.code} is returned if ${row.when}`, async (t) => {
    const setup = await openSetup(t, row.setting);
    const answer = await row.ask(setup);
    assertError(answer, row.code, { param: row.param ?? null, message: row.message });

    const id = answer.header('x-request-id') ?? '';
    if (row.unparsed) assert.match(id, /^[0-9a-f]{32}$/);
    else assert.equal(id, clientId);
    for (const secret of secrets) assert.ok(!answer.rawBytes.includes(secret), `the answer holds ${secret}`);
    assert.doesNotMatch(answer.body.toString(), /node_modules|\.ts\b|\n/);

    if (row.code === 'method_not_allowed') assert.equal(answer.header('allow'), 'POST');
    if (row.code === 'malformed_request') assert.equal(answer.header('connection'), 'close');
    if (row.upstreamIsAsked !== true) assert.equal(setup.upstream.receivedBytes, 0);
    else assert.equal(setup.upstream.requests.length, 1);
  });
}

test('error client_closed is recorded if the client disconnects, and nothing is sent', async (t) => {
  const { rig, upstream } = await openSetup(t, { script: (_request, reply) => reply.stall() });
  const connection = await connect(rig.port);
  await connection.write(toBytes({}));
  await upstream.nextRequest();
  connection.reset();
  const exchange = await rig.exchange();
  assert.equal(exchange.errorCode, 'client_closed');
  assert.equal(exchange.status, 499);
  assert.equal(exchange.client.gone, true);
  assert.equal(connection.received().length, 0);
});

test('an invalid request ID is replaced, not repaired', async (t) => {
  const { rig } = await openSetup(t);
  for (const id of ['', 'a b', 'a'.repeat(129), 'ümlaut', 'a;b', '../x', 'a\tb', '<script>']) {
    const answer = await send(
      rig.port,
      toRequestBytes({ path: '/nowhere', headers: [['X-Request-Id', Buffer.from(id).toString('latin1')]] }),
    );
    assertError(answer, 'route_not_found');
    assert.match(answer.header('x-request-id') ?? '', /^[0-9a-f]{32}$/, id);
  }
  for (const id of ['a', 'A.b_c-9', 'a'.repeat(128)]) {
    const answer = await send(rig.port, toRequestBytes({ path: '/nowhere', headers: [['X-Request-Id', id]] }));
    assert.equal(answer.header('x-request-id'), id);
  }
});

test('every error of the error table is tested here, and documented with status and type', async () => {
  const covered = new Set<string>([...errorRows.map(({ code }) => code), 'client_closed']);
  assert.deepEqual([...covered].toSorted(), Object.keys(errorTable).toSorted());

  const documents = await readFile(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8');
  for (const [code, { status, type }] of Object.entries(errorTable)) {
    const shownType = code === 'client_closed' ? '-' : type;
    assert.ok(
      documents.includes(`| ${status} | ${shownType} | \`${code}\` |`),
      `${code} is not in docs/reference/errors.md so`,
    );
  }
});
