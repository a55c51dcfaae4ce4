import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOfSignature, type SignedRequest, signatureOf } from '../../../test/support/upstreams/sigv4.ts';
import type { SignedCall, SigningTools } from '../../core/family.ts';
import { awsSigner } from './aws.ts';

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const nowMs = Date.UTC(2015, 7, 30, 12, 36);
const scope = { region: 'us-east-1', service: 'bedrock' };

const tools: SigningTools = {
  nowMs: () => nowMs,
  post: () => Promise.reject(new Error('nothing is to be asked for')),
};

async function sign(key: string, { url, headers = [], body = Buffer.alloc(0) }: Partial<SignedCall> & { url: string }) {
  const signer = awsSigner(key, scope);
  assert.ok(typeof signer !== 'string', String(signer));
  const made = await signer({ url, headers, body }, tools);
  const sent: Record<string, string> = { host: new URL(url).host };
  for (let i = 0; i < made.length; i += 2) sent[made[i] ?? ''] = made[i + 1] ?? '';
  for (let i = 0; i < headers.length; i += 2) sent[headers[i] ?? ''] = headers[i + 1] ?? '';
  const request: SignedRequest = { method: 'POST', path: new URL(url).pathname, headers: sent, body: body.toString() };
  return { made, request };
}

test('the signature check of these tests reproduces signatures that AWS published', () => {
  const date = { 'x-amz-date': '20150830T123600Z' };
  const vanilla = { path: '/', headers: { host: 'example.amazonaws.com', ...date }, body: '' };
  const scopeOfSuite = { region: 'us-east-1', service: 'service' };
  const known: [request: SignedRequest, service: typeof scopeOfSuite, signature: string][] = [
    [{ method: 'GET', ...vanilla }, scopeOfSuite, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    [{ method: 'POST', ...vanilla }, scopeOfSuite, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      {
        method: 'GET',
        path: '/',
        query: 'Action=ListUsers&Version=2010-05-08',
        headers: {
          host: 'iam.amazonaws.com',
          'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
          ...date,
        },
        body: '',
      },
      { region: 'us-east-1', service: 'iam' },
      '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    ],
  ];
  for (const [request, ofScope, signature] of known) assert.equal(signatureOf(request, secret, ofScope), signature);
});

test('an AWS signature covers all headers that AWS requires, and none that a proxy may change', async () => {
  const { made, request } = await sign(`AKIDEXAMPLE:${secret}`, {
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/cohere.embed-v4%3A0/invoke',
    headers: [
      ...['content-type', 'application/json', 'accept-encoding', 'identity', 'x-request-id', 'r-1'],
      ...['x-amz-custom', ' a  b ', 'x-amzn-trace-id', 'Root=1'],
    ],
    body: Buffer.from('{"texts":["Zürich 🚀"]}'),
  });
  assert.equal(faultOfSignature(request, { id: 'AKIDEXAMPLE', secret }, scope, nowMs), undefined);
  assert.match(
    made[1] ?? '',
    /SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-custom;x-amz-date, Signature=/,
  );
  assert.deepEqual(
    made.filter((_, index) => index % 2 === 0),
    ['authorization', 'x-amz-date', 'x-amz-content-sha256'],
  );
});

test('an AWS signature covers the path exactly as sent, whatever the model name', async () => {
  const names = [
    'amazon.titan-embed-text-v2:0',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2',
    'a b+c&d=e%3Af',
    "wild!*'()~_-.",
    '東京🚀',
  ];
  for (const name of names) {
    const url = `http://127.0.0.1:8080/prefix/model/${encodeURIComponent(name)}/invoke`;
    const { request } = await sign(`AKIDEXAMPLE:${secret}`, { url });
    assert.equal(faultOfSignature(request, { id: 'AKIDEXAMPLE', secret }, scope, nowMs), undefined, name);
  }
});

test('a temporary AWS key sends its session token, which is signed and treated as a secret', async () => {
  const sessionToken = `IQoJb3JpZ2luX2Vj/${'x'.repeat(300)}==`;
  const key = `ASIDEXAMPLE:${secret}:${sessionToken}`;
  const { request } = await sign(key, { url: 'https://example.test/model/m/invoke' });
  assert.equal(faultOfSignature(request, { id: 'ASIDEXAMPLE', secret, sessionToken }, scope, nowMs), undefined);
  const signer = awsSigner(key, scope);
  assert.deepEqual(typeof signer === 'string' ? [] : signer.secrets?.(), ['ASIDEXAMPLE', secret, sessionToken]);
});

test('an AWS key ID is redacted like a secret, unless it is too short', () => {
  const signer = awsSigner(`AKIDEXAMPLE:${secret}`, scope);
  assert.deepEqual(typeof signer === 'string' ? [] : signer.secrets?.(), ['AKIDEXAMPLE', secret]);
  const short = awsSigner(`a:${secret}`, scope);
  assert.deepEqual(typeof short === 'string' ? [] : short.secrets?.(), [secret]);
});

test('an invalid AWS key is reported without repeating it', () => {
  for (const key of ['AKIDEXAMPLE:', ':secret', 'id::token', 'a:b:c:d', `ASIA0123456789012345:${secret}`]) {
    const why = awsSigner(key, scope);
    assert.ok(typeof why === 'string', key);
    assert.match(why, /ACCESS_KEY_ID:SECRET_ACCESS_KEY/);
    assert.ok(!why.includes(secret) && !why.includes('ASIA0'));
  }
});
