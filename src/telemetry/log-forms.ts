/** Converts log lines to formats other than our own: Elastic Common Schema, Google Cloud, and plain text. */

import type { LogSettings } from '../core/snapshot.ts';
import { isMapping } from '../lib/is-mapping.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Converts one of our lines, with or without its line end, to a line with one. */
export type LineForm = (line: string) => string;

/** The conversion to the configured format; undefined where lines stay unchanged. */
export function toLineForm({ format, fields }: Pick<LogSettings, 'format' | 'fields'>): LineForm | undefined {
  if (format === 'text') return toForm(toText);
  if (fields === 'ecs') return toForm((line) => JSON.stringify(toEcs(line)));
  return fields === 'gcp' ? toForm((line) => JSON.stringify(toGcp(line))) : undefined;
}

function toForm(toOther: (fields: Fields) => string): LineForm {
  return (line) => {
    const fields: unknown = JSON.parse(line);
    return `${isMapping(fields) ? toOther(fields) : line.trimEnd()}\n`;
  };
}

/** Level names by the numbers of pino, a logging library. */
const levelNames: Readonly<Record<string, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

const nameOf = (level: unknown): string => levelNames[String(level)] ?? 'info';

function toText({ time, level, msg, ...rest }: Fields): string {
  const fields = Object.entries(rest).flatMap(([name, value]) => (value === null ? [] : [`${name}=${toWord(value)}`]));
  return [String(time), nameOf(level).toUpperCase().padEnd(5), String(msg), ...fields].join(' ');
}

function toWord(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Elastic's names by our names; fields without a name there go below `postern`. */
const ecsNames: Readonly<Record<string, string>> = {
  id: 'http.request.id',
  trace_id: 'trace.id',
  method: 'http.request.method',
  route: 'url.path',
  status: 'http.response.status_code',
  request_bytes: 'http.request.body.bytes',
  response_bytes: 'http.response.body.bytes',
  client_address: 'client.ip',
  error: 'error.code',
  cause: 'error.message',
};

function toEcs({ time, level, msg, duration_ms: durationMs, ...rest }: Fields): Fields {
  return {
    '@timestamp': time,
    'log.level': nameOf(level),
    message: msg,
    'ecs.version': '8.11.0',
    'service.name': 'postern',
    ...(msg === 'request' && { 'event.dataset': 'postern.access' }),
    ...(typeof durationMs === 'number' && { 'event.duration': Math.round(durationMs * 1e6) }),
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [ecsNames[name] ?? `postern.${name}`, value])),
  };
}

const severities: Readonly<Record<string, string>> = { debug: 'DEBUG', info: 'INFO', warn: 'WARNING', error: 'ERROR' };

function toGcp({ time, level, msg, ...rest }: Fields): Fields {
  const {
    method,
    status,
    route,
    request_bytes: sent,
    response_bytes: got,
    duration_ms: ms,
    client_address: ip,
    ...more
  } = rest;
  const httpRequest = {
    requestMethod: method,
    requestUrl: route,
    status,
    requestSize: String(sent),
    responseSize: String(got),
    ...(typeof ms === 'number' && { latency: `${(ms / 1000).toFixed(4)}s` }),
    ...(ip !== undefined && { remoteIp: ip }),
  };
  return {
    severity: severities[nameOf(level)],
    time,
    message: msg,
    ...(msg === 'request' ? { httpRequest, ...more } : rest),
  };
}
