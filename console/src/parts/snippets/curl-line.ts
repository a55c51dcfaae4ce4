/** A gateway call as a curl command for a POSIX shell. Pure text. */

interface CurlFacts {
  /** What clients put before `/v1/...`; of a gateway that listens on a socket alone, `unix:`, its path, a colon and the base path. */
  readonly baseUrl: string;
  readonly path: string;
  /** Undefined where it is not known: then a variable of the shell stands in its place. */
  readonly secret?: string | undefined;
  /** JSON; undefined where it is a form. */
  readonly body?: string;
  /** The parts of a form, as curl takes them: `model=m`, `file=@sound.mp3`. */
  readonly parts?: readonly string[];
  /** Of its parts, those whose text means nothing to curl, whatever is in it. */
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

/** Longer ones are written over several lines. */
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

/** Between single quotes nothing means anything; what needs none gets none. */
const quote = (text: string): string =>
  /^[\w:/.%-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
