import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toNetwork } from './network-of.ts';

test('an IPv6 address is reduced to its /64 network, and an IPv4 address stays', () => {
  const rows = [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '0:0:0:0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['fe80::1:2:3:4:5', 'fe80:0:0:1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['', ''],
  ] as const;
  for (const [given, network] of rows) assert.equal(toNetwork(given), network);
});
