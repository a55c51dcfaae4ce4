import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LineForm, toLineForm } from './log-forms.ts';

const access = `${JSON.stringify({
  level: 40,
  time: '2026-01-01T00:00:00.000Z',
  worker: 2,
  msg: 'request',
  id: 'the-id',
  method: 'POST',
  route: '/v1/embeddings',
  model: 'a model',
  status: 429,
  error: 'rate_limit_exceeded',
  request_bytes: 10,
  response_bytes: 20,
  duration_ms: 12.3,
  prompt_tokens: null,
  total_tokens: 3,
})}\n`;
const plain = '{"level":30,"time":"2026-01-01T00:00:00.000Z","msg":"listening","port":4000}\n';

function formed(form: LineForm | undefined, lines: readonly string[]): unknown[] {
  assert.ok(form !== undefined);
  return lines.map((line) => {
    const text = form(line);
    assert.equal(text.indexOf('\n'), text.length - 1);
    return JSON.parse(text) as unknown;
  });
}

test("the gateway's own log format needs no conversion of lines", () => {
  assert.equal(toLineForm({ format: 'json', fields: 'postern' }), undefined);
});

test('in the Elastic format every field belongs to the schema or begins with "postern."', () => {
  assert.deepEqual(formed(toLineForm({ format: 'json', fields: 'ecs' }), [access, plain]), [
    {
      '@timestamp': '2026-01-01T00:00:00.000Z',
      'log.level': 'warn',
      message: 'request',
      'ecs.version': '8.11.0',
      'service.name': 'postern',
      'event.dataset': 'postern.access',
      'event.duration': 12_300_000,
      'postern.worker': 2,
      'http.request.id': 'the-id',
      'http.request.method': 'POST',
      'url.path': '/v1/embeddings',
      'postern.model': 'a model',
      'http.response.status_code': 429,
      'error.code': 'rate_limit_exceeded',
      'http.request.body.bytes': 10,
      'http.response.body.bytes': 20,
      'postern.prompt_tokens': null,
      'postern.total_tokens': 3,
    },
    {
      '@timestamp': '2026-01-01T00:00:00.000Z',
      'log.level': 'info',
      message: 'listening',
      'ecs.version': '8.11.0',
      'service.name': 'postern',
      'postern.port': 4000,
    },
  ]);
});

test('in the Google Cloud log format a request has an httpRequest field', () => {
  assert.deepEqual(formed(toLineForm({ format: 'json', fields: 'gcp' }), [access, plain]), [
    {
      severity: 'WARNING',
      time: '2026-01-01T00:00:00.000Z',
      message: 'request',
      httpRequest: {
        requestMethod: 'POST',
        requestUrl: '/v1/embeddings',
        status: 429,
        requestSize: '10',
        responseSize: '20',
        latency: '0.0123s',
      },
      worker: 2,
      id: 'the-id',
      model: 'a model',
      error: 'rate_limit_exceeded',
      prompt_tokens: null,
      total_tokens: 3,
    },
    { severity: 'INFO', time: '2026-01-01T00:00:00.000Z', message: 'listening', port: 4000 },
  ]);
});

test('the text log format omits unknown values, and no value breaks a line', () => {
  const form = toLineForm({ format: 'text', fields: 'postern' });
  assert.equal(
    [access, plain.replace('"listening"', '"listening","name":"a \\"b\\"\\nc"')].map((line) => form?.(line)).join(''),
    '2026-01-01T00:00:00.000Z WARN  request worker=2 id=the-id method=POST route=/v1/embeddings model="a model" status=429 ' +
      'error=rate_limit_exceeded request_bytes=10 response_bytes=20 duration_ms=12.3 total_tokens=3\n' +
      '2026-01-01T00:00:00.000Z INFO  listening name="a \\"b\\"\\nc" port=4000\n',
  );
});
