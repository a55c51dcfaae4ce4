/** Which files a configuration names: key files and certificates. */

import type { ConfigurationDocument } from './document.ts';

/** As the configuration spells them. */
export function filesNamedIn({ settings, upstreams }: ConfigurationDocument): string[] {
  const { tls } = settings.server;
  const ofUpstreams = upstreams.flatMap(({ value }) => [
    value.api_key_file,
    ...(value.credentials ?? []).map((one) => one.api_key_file),
    value.tls?.ca,
    value.tls?.cert,
    value.tls?.key,
  ]);
  return [tls?.cert, tls?.key, ...ofUpstreams].filter((path) => path !== undefined);
}
