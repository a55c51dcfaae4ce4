/** The cookie that holds a session's secret. */

const oneDaySeconds = 24 * 60 * 60;
/** As long as a session may last; the server ends it before where it has to. */
const maxAgeSeconds = 7 * oneDaySeconds;

/**
 * Over https no other host, path or unencrypted page can set a cookie of that name. On plain http, as on this machine, the prefix
 * is not to be had.
 */
const nameOf = (isSecure: boolean): string => (isSecure ? '__Host-postern' : 'postern_session');

/** Strict is enough: the pages are files that need no cookie, and they ask for everything else from the same site. */
const attributesOf = (isSecure: boolean): string => `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

export function toCookie(secret: string, isSecure: boolean): string {
  return `${nameOf(isSecure)}=${secret}; Max-Age=${maxAgeSeconds}; ${attributesOf(isSecure)}`;
}

export function toClearingCookie(isSecure: boolean): string {
  return `${nameOf(isSecure)}=; Max-Age=0; ${attributesOf(isSecure)}`;
}

export const readCookie = (headers: Headers, isSecure: boolean): string | undefined =>
  readOnlyCookie(headers, nameOf(isSecure));

/** Undefined where there is none, or more than one: then somebody else put one there too. */
export function readOnlyCookie(headers: Headers, cookie: string): string | undefined {
  const name = `${cookie}=`;
  const found = (headers.get('cookie') ?? '')
    .split(/[;,]/)
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .map((pair) => pair.slice(name.length));
  return found.length === 1 ? found[0] : undefined;
}
