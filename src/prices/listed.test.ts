import assert from 'node:assert/strict';
import { test } from 'node:test';
import { families } from '../families/index.ts';
import { listedPrice, listOf } from './listed.ts';
import { priceTable } from './table.ts';

const cohere = { id: 'cohere', baseUrl: 'https://api.cohere.com' };

test('finds a price by family, region and name, with its source', () => {
  const price = listedPrice(cohere, 'https://api.cohere.com', 'rerank-v3.5');
  assert.equal(price?.searchUnit, 2_000_000);
  assert.equal(price?.input, undefined);
  assert.equal(price && listOf(price)?.source, 'https://cohere.com/pricing');
  assert.equal(listOf({ ...(price ?? assert.fail()) }), undefined);
  assert.equal(listedPrice(cohere, undefined, 'rerank-v3.5'), undefined);
  assert.equal(listedPrice(cohere, 'https://api.cohere.com', 'constructor'), undefined);
  assert.equal(listedPrice({ id: 'nobody' }, 'https://api.cohere.com', 'rerank-v3.5'), undefined);
});

test('each part of the price table belongs to an existing family and address', () => {
  for (const { family: id, hosts, asOf, source, models } of priceTable) {
    const family = families.find((one) => one.id === id);
    assert.ok(family, id);
    const address = (family.baseUrl ?? 'https://name.openai.azure.com').replaceAll(/\{\w+\}/g, 'us-east-1');
    assert.match(new URL(address).hostname, hosts, id);
    assert.doesNotMatch(`${new URL(address).hostname}.example`, hosts, id);
    assert.match(asOf, /^\d{4}-\d{2}-\d{2}$/);
    assert.match(source, /^https:\/\//);
    for (const price of Object.values(models)) assert.ok(Object.keys(price).length > 0);
  }
});
