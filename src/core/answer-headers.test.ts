import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { commandsLoading, toHeaderList, whyWithheld, withheldClasses } from './answer-headers.ts';

test('every response header in the table is in the docs', async () => {
  const docs = (await readFile(new URL('../../docs/reference/routes.md', import.meta.url), 'utf8')).toLowerCase();
  // Names of one service are listed with their prefix once.
  const written = docs.replaceAll(/`-([a-z-]+)`/g, '`x-envoy-$1`');
  for (const name of withheldClasses.flatMap(({ names }) => names)) assert.ok(written.includes(`\`${name}\``), name);
});

test("response headers that identify the operator's account are recognised, and headers with similar names pass", () => {
  for (const name of [
    'openai-organization',
    'openai-project',
    'anthropic-organization-id',
    'voyage-organization',
    'x-goog-user-project',
    'x-databricks-org-id',
    'x-ms-subscription-id',
    'x-account',
    'account-id',
    'x-workspace-name',
    'azure-tenant-id',
    'x-amzn-account-id',
    'x-amz-account-id',
    'x-amzn-oidc-identity',
    'x-amzn-iam-arn',
    'x-ms-client-principal-name',
  ]) {
    assert.match(whyWithheld(name) ?? '', /account/, name);
  }
  for (const name of [
    'x-amzn-requestid',
    'x-amzn-errortype',
    'x-amzn-bedrock-input-token-count',
    'x-amz-cf-id',
    'x-ratelimit-remaining-project',
    'x-ratelimit-limit-project-tokens',
    'x-accounting-ms',
    'x-projected-cost',
    'apim-request-id',
    'x-tenant',
    'organization-was-here',
    'x-ms-region',
    'x-proxy-ms',
    'x-accelerator',
    'content-disposition',
    'x-content-type-options',
    'x-envoy-upstream-service-time',
    'cache-control',
    'retry-after',
  ]) {
    assert.equal(whyWithheld(name), undefined, name);
  }
});

test('a Link response header is dropped if it makes browsers preload something', () => {
  for (const link of [
    '</a.js>; rel=preload',
    '</a>; rel="next preload"; as=script',
    '</next>; rel=next, </a>;REL=PreLoad',
    '</a>; rel=modulepreload',
    '<a; rel=preload',
  ]) {
    assert.ok(commandsLoading(link), link);
  }
  for (const link of ['</next>; rel=next', '</preload>; rel="next"', '']) assert.ok(!commandsLoading(link), link);
});

test('a list of response headers admits exact names, prefixes, and headers that clients need in any case', () => {
  const list = toHeaderList(['x-ratelimit-*', 'date']);
  for (const name of ['date', 'x-ratelimit-limit-requests', 'content-type', 'content-encoding', 'retry-after']) {
    assert.ok(list.has(name), name);
  }
  for (const name of ['x-ratelimit', 'cf-ray', 'x-request-id', 'dates']) assert.ok(!list.has(name), name);
});
