import { test } from 'node:test';
import { assertFaults, type FaultRow } from '../../../../test/support/gateways/configuration.ts';

const upstream = 'upstreams:\n  - id: a\n    family: openai\n';

const faultRows: readonly FaultRow[] = [
  { text: `${upstream}    headers: { "x a": b }`, line: 4, path: 'upstreams[0].headers["x a"]', error: /no name/ },
  {
    text: `${upstream}    headers: { "x-a": "b\\nc" }`,
    line: 4,
    path: 'upstreams[0].headers.x-a',
    error: /line break/,
  },
  {
    text: `${upstream}    headers: { "x-a": "b\\u20ac" }`,
    line: 4,
    path: 'upstreams[0].headers.x-a',
    error: /no HTTP header can carry/,
  },
  {
    text: `${upstream}    headers: { Content-Length: "1" }`,
    line: 4,
    path: 'upstreams[0].headers.Content-Length',
    error: /writes this header itself/,
  },
  {
    text: `${upstream}    headers: { HOST: h }`,
    line: 4,
    path: 'upstreams[0].headers.HOST',
    error: /writes this header itself/,
  },
  { text: `${upstream}    headers: { x-a: b, X-A: c }`, line: 4, path: 'upstreams[0].headers.X-A', error: /twice/ },
  {
    text: `${upstream}    headers: { x-a: 1 }`,
    line: 4,
    path: 'upstreams[0].headers.x-a',
    error: /wanted: text; came: a number; put it in quotes/,
  },
  ...[
    'Authorization',
    'x-api-key',
    'api-key',
    'x-goog-api-key',
    'cookie',
    'proxy-authorization',
    'x-forwarded-for',
    'forwarded',
    'openai-organization',
    'x-goog-user-project',
  ].map((name) => ({
    text: `${upstream}    forward_headers: [x-a, ${name}]`,
    line: 4,
    path: 'upstreams[0].forward_headers[1]',
    error: /never forwarded/,
  })),
  ...[
    'X-Model',
    'model',
    'x-model-id',
    'x-litellm-model',
    'x-litellm-tags',
    'x-portkey-config',
    'helicone-fallbacks',
    'Helicone-Model-Override',
    'azureml-model-deployment',
    'x-ms-oai-image-generation-deployment',
    'x-portkey-azure-deployment-id',
    'X-Amzn-SageMaker-Target-Model',
    'ai-language-model-id',
  ].map((name) => ({
    text: `${upstream}    forward_headers: [x-a, ${name}]`,
    line: 4,
    path: 'upstreams[0].forward_headers[1]',
    error: /another model than the one that was judged, and is never forwarded; set it under headers/,
  })),
  {
    text: 'upstreams:\n  - id: a\n    family: ranker\n    forward_headers: [x-ranker-key]',
    line: 4,
    path: 'upstreams[0].forward_headers[0]',
    error: /credential/,
  },
  {
    text: `${upstream}    forward_headers: [transfer-encoding]`,
    line: 4,
    path: 'upstreams[0].forward_headers[0]',
    error: /one connection/,
  },
  {
    text: `${upstream}    headers: { x-a: b }\n    forward_headers: [X-A]`,
    line: 5,
    path: 'upstreams[0].forward_headers[0]',
    error: /must not change/,
  },
  ...[
    ['X-Accel-Redirect', /proxy in front/],
    ['set-cookie', /browser/],
    ['openai-project', /account/],
    ['x-postern-upstream', /Postern's own/],
    ['x a', /no name/],
    ['x-*-ms', /no name/],
  ].map(([name, error]) => ({
    text: `${upstream}    response_headers: [date, "${name}"]`,
    line: 4,
    path: 'upstreams[0].response_headers[1]',
    error: error instanceof RegExp ? error : /./,
  })),
  {
    text: `${upstream}    response_headers: []`,
    line: 4,
    path: 'upstreams[0].response_headers',
    error: /at least one; content-type alone/,
  },
];

test('reports each fault in header settings of an upstream once, with path, line and expected value', (t) =>
  assertFaults(t, faultRows));
