import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import { toClientAddress } from './address.ts';

const trusted = new BlockList();
trusted.addSubnet('10.0.0.0', 8, 'ipv4');
trusted.addAddress('::1', 'ipv6');

test('without trusted proxies, a forwarding header does not change the client address', () => {
  assert.equal(toClientAddress('203.0.113.9', '198.51.100.1', undefined), '203.0.113.9');
  assert.equal(toClientAddress('203.0.113.9', '198.51.100.1', trusted), '203.0.113.9');
});

test('behind trusted proxies the client address is the nearest forwarded one that is not trusted', () => {
  assert.equal(toClientAddress('10.0.0.1', '198.51.100.1', trusted), '198.51.100.1');
  assert.equal(toClientAddress('10.0.0.1', '1.1.1.1, 198.51.100.1, 10.2.2.2', trusted), '198.51.100.1');
  assert.equal(toClientAddress('::1', '2001:db8::7', trusted), '2001:db8::7');
  assert.equal(toClientAddress('::ffff:10.0.0.1', '198.51.100.1', trusted), '198.51.100.1');
});

test('a connection without a peer address has no client address, unless it is trusted and forwards one', () => {
  assert.equal(toClientAddress(undefined, '198.51.100.1', undefined), undefined);
  assert.equal(toClientAddress(undefined, '198.51.100.1', trusted), undefined);
  assert.equal(toClientAddress(undefined, undefined, trusted, true), undefined);
  assert.equal(toClientAddress(undefined, '198.51.100.1', undefined, true), '198.51.100.1');
  assert.equal(toClientAddress(undefined, '1.1.1.1, 198.51.100.1, 10.2.2.2', trusted, true), '198.51.100.1');
  assert.equal(toClientAddress(undefined, '198.51.100.1, bad', trusted, true), undefined);
});

test('drops the port that a proxy appends to a forwarded address', () => {
  for (const [hops, address] of [
    ['198.51.100.1:4711', '198.51.100.1'],
    ['[2001:db8::7]:443', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['198.51.100.1:4711, 10.0.0.2:80', '198.51.100.1'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['[::ffff:198.51.100.1]:80', '198.51.100.1'],
    ['2001:db8::7:443', '2001:db8::7:443'],
    ['198.51.100.1:', '10.0.0.1'],
    ['198.51.100.1:x', '10.0.0.1'],
    ['[198.51.100.1', '10.0.0.1'],
    ['host:80', '10.0.0.1'],
  ] as const) {
    assert.equal(toClientAddress('10.0.0.1', hops, trusted), address, hops);
  }
});

test('an invalid forwarded address ends the chain at the last valid one', () => {
  assert.equal(toClientAddress('10.0.0.1', 'unknown', trusted), '10.0.0.1');
  assert.equal(toClientAddress('10.0.0.1', '198.51.100.1, bad, 10.0.0.2', trusted), '10.0.0.2');
  assert.equal(toClientAddress(undefined, '198.51.100.1', trusted), undefined);
});
