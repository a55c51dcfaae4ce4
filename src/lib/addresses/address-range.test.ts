import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAddressRange, toBlockList } from './address-range.ts';

test('parses single IPv4 and IPv6 addresses and ranges', () => {
  assert.deepEqual(toAddressRange('10.1.0.0/16'), { address: '10.1.0.0', family: 'ipv4', prefixBits: 16 });
  assert.deepEqual(toAddressRange('127.0.0.1'), { address: '127.0.0.1', family: 'ipv4', prefixBits: 32 });
  assert.deepEqual(toAddressRange('fd00::/8'), { address: 'fd00::', family: 'ipv6', prefixBits: 8 });
  assert.deepEqual(toAddressRange('0.0.0.0/0'), { address: '0.0.0.0', family: 'ipv4', prefixBits: 0 });
});

test('does not parse host names, zones, leading zeros or prefixes out of range', () => {
  for (const text of [
    '',
    'localhost',
    '10.0.0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '1.2.3.4/',
    '010.0.0.1',
    'fe80::1%eth0',
    ' ::1',
  ]) {
    assert.equal(toAddressRange(text), undefined, text);
  }
});

test('a list of ranges contains the addresses of each range and no others', () => {
  const list = toBlockList(['10.0.0.0/8', '::1']);
  assert.equal(list.check('10.200.3.4'), true);
  assert.equal(list.check('11.0.0.1'), false);
  assert.equal(list.check('::1', 'ipv6'), true);
  assert.equal(list.check('::2', 'ipv6'), false);
});

test('an IPv4 range contains the same addresses in IPv4-mapped IPv6 form', () => {
  assert.equal(toBlockList(['10.0.0.0/8']).check('::ffff:10.0.0.1', 'ipv6'), true);
});
