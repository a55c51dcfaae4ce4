import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddressRule } from './address-rule.ts';

const standard = createAddressRule();

test('permits public, private and loopback addresses', () => {
  for (const address of [
    '93.184.215.14',
    '127.0.0.1',
    '127.255.255.254',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '::1',
    '2606:4700::1111',
    'fc00::1',
    'fd12:3456::1',
  ]) {
    assert.equal(standard.permits(address), true, address);
  }
});

test('refuses addresses of no real service, such as link-local and multicast', () => {
  for (const address of [
    '0.0.0.0',
    '0.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '100.100.100.200',
    '169.254.169.254',
    '169.254.0.1',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '::',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    '4000::1',
    'fd00:ec2::254',
    'fd20:ce::254',
  ]) {
    assert.equal(standard.permits(address), false, address);
  }
});

test('refuses IPv4 addresses embedded in IPv6, also loopback and public ones', () => {
  for (const address of [
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::FFFF:8.8.8.8',
    '0:0:0:0:0:ffff:7f00:1',
    '::127.0.0.1',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '64:ff9b::169.254.169.254',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2002:7f00:1::',
    '2001:0:4136:e378:8000:63bf:5601:5601',
  ]) {
    assert.equal(standard.permits(address), false, address);
  }
});

test('refuses an invalid address, or one with a zone', () => {
  for (const text of ['', 'localhost', '127.1', '0x7f000001', '2130706433', 'fe80::1%eth0', '::1%lo', '127.0.0.1.'])
    assert.equal(standard.permits(text), false, text);
});

test('an allowed range permits its own addresses only, and not their IPv4-mapped form', () => {
  const rule = createAddressRule({ allow: ['100.64.0.0/10', 'fe80::/10'] });
  assert.equal(rule.permits('100.64.0.1'), true);
  assert.equal(rule.permits('fe80::1'), true);
  assert.equal(rule.permits('169.254.169.254'), false);
  // Not in another spelling either, unless that one is allowed as well.
  assert.equal(rule.permits('::ffff:100.64.0.1'), false);
});

test('denied ranges are refused whatever else is allowed', () => {
  const rule = createAddressRule({
    allow: ['10.0.0.0/8', '100.64.0.0/10'],
    deny: ['10.1.0.0/16', '127.0.0.0/8', '::1'],
  });
  assert.equal(rule.permits('10.2.0.1'), true);
  assert.equal(rule.permits('10.1.0.1'), false);
  assert.equal(rule.permits('127.0.0.1'), false);
  assert.equal(rule.permits('::1'), false);
  assert.equal(rule.permits('100.64.0.1'), true);
});

test('an allowed IPv6 range permits no embedded IPv4 address that is itself refused', () => {
  const rule = createAddressRule({ allow: ['64:ff9b::/96', '2002::/16', '2001::/32', '::ffff:0:0/96'] });
  assert.equal(rule.permits('64:ff9b::8.8.8.8'), true);
  assert.equal(rule.permits('64:ff9b::169.254.169.254'), false);
  assert.equal(rule.permits('2002:808:808::1'), true);
  assert.equal(rule.permits('2002:a9fe:a9fe::1'), false);
  assert.equal(rule.permits('2001:0:4136:e378:8000:63bf:5601:5601'), false);
  assert.equal(rule.permits('::ffff:169.254.169.254'), false);
});

test('two equal rules have the same ID', () => {
  assert.equal(createAddressRule({ deny: ['10.0.0.0/8'] }).id, createAddressRule({ deny: ['10.0.0.0/8'] }).id);
  assert.notEqual(createAddressRule({ deny: ['10.0.0.0/8'] }).id, standard.id);
});
