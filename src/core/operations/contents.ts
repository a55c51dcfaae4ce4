/** Lists where requests in Google's format hold contents and files, in both spellings of the field names. */

import type { OperationRow } from './row.ts';

/** Matches URLs of public files, which Google fetches; a file stored at Google may be the operator's own. */
export const outsideGoogle =
  /^https?:\/\/(?![^/?#]*(?:[@\\]|googleapis\.com\.?(?:[:/?#]|$)))[a-z0-9.-]+(?::\d{1,5})?(?:[/?#]|$)/i;

/** Adds to each name its other spelling: `fileUri` and `file_uri`. */
export const bothOf = (...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [...new Set([name, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])]);

export const contents = {
  counting: 'contents',
  beyondText: bothOf('inlineData', 'fileData', 'fileUri'),
  objectNames: {
    fields: bothOf('cachedContent'),
    names: bothOf('cachedContent', 'fileUri'),
    // Document stores, and whatever else a tool reads with the operator's account.
    wholes: bothOf('retrieval', 'fileSearch'),
    outside: outsideGoogle,
    except: bothOf('args', 'response', 'parameters', 'parametersJsonSchema', 'responseSchema', 'responseJsonSchema'),
  },
} as const satisfies Partial<OperationRow>;
