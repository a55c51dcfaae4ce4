/** Writes a gateway call as a curl command for a POSIX shell. Pure: text only. */

interface CurlFacts {
  /** The base URL of clients, before `/v1/...`; for a gateway that listens on a socket only, `unix:`, its path, a colon and the base path. */
  readonly baseUrl: string;
  readonly path: string;
  /** The secret; undefined if it is unknown: then a shell variable is used. */
  readonly secret?: string | undefined;
  /** The JSON body; undefined for a form. */
  readonly body?: string;
  /** The parts of a form in curl's notation: `model=m`, `file=@sound.mp3`. */
  readonly parts?: readonly string[];
  /** The parts whose text curl must not interpret. */
  readonly texts?: readonly string[];
  readonly isStream?: boolean;
}

export function toCurlLine({
  baseUrl,
  path,
  secret,
  body,
  parts = [],
  texts = [],
  isStream = false,
}: CurlFacts): string {
  const authorization =
    secret === undefined ? '"Authorization: Bearer $POSTERN_KEY"' : quote(`Authorization: Bearer ${secret}`);
  return [
    `curl ${isStream ? '-N ' : ''}${toTarget(baseUrl, path)}`,
    `-H ${authorization}`,
    ...(body === undefined ? [] : [`-H ${quote('Content-Type: application/json')}`, `-d ${quote(body)}`]),
    ...texts.map((text) => `--form-string ${quote(text)}`),
    ...parts.map((part) => `-F ${quote(part)}`),
  ].join(' \\\n  ');
}

/** Longest command on one line; longer ones are split over several lines. */
const longestLine = 100;

export function toBodyText(body: unknown): string {
  const flat = JSON.stringify(body) ?? '';
  return flat.length > longestLine ? JSON.stringify(body, null, 2) : flat;
}

export const isAtSocket = (baseUrl: string): boolean => baseUrl.startsWith('unix:');

function toTarget(baseUrl: string, path: string): string {
  const [, socket, basePath = ''] = /^unix:(.*):(\/.*)?$/s.exec(baseUrl) ?? [];
  if (socket === undefined) return quote(baseUrl + path);
  return `--unix-socket ${quote(socket)} ${quote(`http://localhost${basePath}${path}`)}`;
}

/** Quotes a text for the shell if it needs quotes. */
const quote = (text: string): string =>
  /^[\w:/.%-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
