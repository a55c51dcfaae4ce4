/** The request bytes of a load: each has a different number in its body, and one of several keys in its head. */

export interface Requests {
  readonly port: number;
  readonly path: string;
  readonly body: Buffer;
  readonly bodyType: string;
  /** The offset of the number in the body; it has as many digits as `firstCounter`. */
  readonly counterAt: number;
  /** The number of the first request; each next has the next. */
  readonly firstCounter: number;
  /** They take turns. */
  readonly keys: readonly string[];
}

/** A request is an opening, which is a key's, the number, and the rest. */
export interface RequestParts {
  /** One for each key: the head, and the body as far as the number. */
  readonly openings: readonly string[];
  readonly rest: Buffer;
}

export function toParts({ port, path, body, bodyType, counterAt, firstCounter, keys }: Requests): RequestParts {
  const restAt = counterAt + String(firstCounter).length;
  if (counterAt < 0 || restAt > body.length) throw new Error('the body has no place for a number');
  const openings = keys.map((key) => {
    const lines = [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Content-Length: ${body.length}`,
      ...Object.entries(toHeaders(key, bodyType)).map(([name, value]) => `${name}: ${value}`),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${body.toString('latin1', 0, counterAt)}`;
  });
  return { openings, rest: body.subarray(restAt) };
}

export const toHeaders = (key: string, bodyType: string): Record<string, string> => ({
  'Content-Type': bodyType,
  Authorization: `Bearer ${key}`,
});

/** A script for wrk that sends them, and prints the result as JSON in the last line. */
export function toWrkScript(parts: RequestParts, restFile: string, firstCounter: number): string {
  return `local openings = {
${parts.openings.map((opening) => `  ${lua(opening)},`).join('\n')}
}
local file = io.open(${lua(restFile)}, 'rb')
local rest = file:read('*a')
file:close()
local number = ${firstCounter - 1}
function request()
  number = number + 1
  return openings[number % #openings + 1] .. string.format('%.0f', number) .. rest
end
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"requests":%d,"seconds":%.6f,"bytes":%.0f,"p50Us":%.0f,"p99Us":%.0f,"p999Us":%.0f,' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
`;
}

/** A Lua string; what it holds is printable but for line ends. */
function lua(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}
