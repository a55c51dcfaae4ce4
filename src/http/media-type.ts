/** Checks whether a Content-Type is JSON in UTF-8. */

/** `application/json`, any `+json`, or nothing; a charset other than UTF-8 would let the upstream read another text. */
export function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  const essence = mediaType.trim();
  if (
    essence !== '' &&
    essence !== 'application/json' &&
    !/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+\+json$/.test(essence)
  ) {
    return false;
  }
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^"?(?:utf-?8|us-ascii|ascii)"?$/.test(value.trim());
  });
}
