import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { isLoopback } from '../../lib/addresses/address-range.ts';
import { checkToken } from './listener.ts';

const token = 'a-token-of-the-operators';
const settings = {
  host: '127.0.0.1',
  port: 0,
  isPortGiven: false,
  url: undefined,
  traceUrl: undefined,
  oidc: undefined,
};

/** The verdict of `checkToken` on a request to one of our addresses. */
function judge(localAddress: string, authorization: string | undefined, wanted: string | undefined): string {
  const socket = new Socket();
  Object.defineProperty(socket, 'localAddress', { value: localAddress });
  const request = new IncomingMessage(socket);
  if (authorization !== undefined) request.headers.authorization = authorization;
  try {
    checkToken(request, { ...settings, token: wanted });
    return 'may';
  } catch (error) {
    return String(Reflect.get(Object(error), 'code'));
  }
}

test('a caller from loopback needs no token unless one is configured, and any other caller always does', () => {
  const rows = [
    ['127.0.0.1', undefined, undefined, 'may'],
    ['::1', undefined, undefined, 'may'],
    ['127.0.0.1', undefined, token, 'invalid_token'],
    ['::1', 'Bearer other', token, 'invalid_token'],
    ['127.0.0.1', `Bearer ${token}`, token, 'may'],
    ['192.0.2.1', `Bearer ${token}`, token, 'may'],
    ['192.0.2.1', undefined, token, 'invalid_token'],
    // The settings lost their token since the start.
    ['192.0.2.1', undefined, undefined, 'invalid_token'],
    ['192.0.2.1', 'Bearer ', undefined, 'invalid_token'],
    ['', undefined, undefined, 'invalid_token'],
  ] as const;
  for (const [address, given, wanted, said] of rows) {
    assert.equal(judge(address, given, wanted), said, `${address} ${given} ${wanted}`);
  }
});

test('127.0.0.0/8 and ::1 count as loopback addresses, and host names do not', () => {
  const rows = [
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['128.0.0.1', false],
    ['::1', true],
    ['::2', false],
    ['localhost', false],
    ['', false],
  ] as const;
  for (const [address, is] of rows) assert.equal(isLoopback(address), is, address);
});
