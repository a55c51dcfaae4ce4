/** Encodes a playground form in a URL, so that a link shows the same. */

export type Values = Readonly<Record<string, string | boolean>>;

/** Longest form in a URL, as servers and chats cut longer URLs. */
const longestShared = 6_000;

/** The form as text for a URL; undefined if it is too long. */
export function toShared(route: string, values: Values): string | undefined {
  const bytes = new TextEncoder().encode(JSON.stringify(values));
  const text = btoa(String.fromCharCode(...bytes.subarray(0, longestShared)));
  if (bytes.length > longestShared) return undefined;
  const query = new URLSearchParams({ values: text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') });
  return `/playground/${route}?${query}`;
}

export function readShared(text: string | null): Values | undefined {
  if (text === null) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
    const values: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof values !== 'object' || values === null) return undefined;
    const fitting = Object.entries(values).filter(([, one]) => typeof one === 'string' || typeof one === 'boolean');
    return Object.fromEntries(fitting);
  } catch {
    return undefined;
  }
}
