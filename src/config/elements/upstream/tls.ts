/** Reads and validates the TLS certificates and the key that connections to an upstream use. */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { UpstreamTls } from '../../../core/snapshot.ts';
import { codeOf } from '../../../lib/thrown.ts';
import { type Location, readSideFile } from '../context.ts';
import type { UpstreamEntry } from './schema.ts';

type Section = NonNullable<UpstreamEntry['tls']>;

export function toUpstreamTls(section: Section, location: Location): UpstreamTls {
  if (section.cert !== undefined && section.key === undefined) {
    location.at('cert').fault('stands without key; add the file with its private key');
  }
  if (section.key !== undefined && section.cert === undefined) {
    location.at('key').fault('stands without cert; add the file with its certificate');
  }
  if (section.server_name !== undefined && isIP(section.server_name) !== 0) {
    location.at('server_name').fault('is an IP address, which TLS cannot ask for; write a host name');
  }
  const read = (part: 'ca' | 'cert' | 'key'): string | undefined => {
    const file = section[part];
    return file === undefined ? undefined : readSideFile(file, location.at(part));
  };
  const tls = { ca: read('ca'), cert: read('cert'), key: read('key'), serverName: section.server_name };
  checkParts(tls, location);
  return Object.freeze(tls);
}

function checkParts({ ca, cert, key }: UpstreamTls, location: Location): void {
  const trusted = ca === undefined ? [] : toCertificates(ca);
  if (trusted === undefined) location.at('ca').fault(notCertificates);
  const chain = cert === undefined ? [] : toCertificates(cert);
  if (chain === undefined) location.at('cert').fault(notCertificates);
  const privateKey = key === undefined ? undefined : toPrivateKey(key);
  if (key !== undefined && privateKey === undefined) {
    location.at('key').fault('the file holds no PEM private key that can be read without a passphrase');
  }
  const unread = trusted === undefined || chain === undefined || (key !== undefined && privateKey === undefined);
  if (unread || (ca ?? cert ?? key) === undefined) return;

  const [leaf] = chain;
  if (leaf !== undefined && privateKey !== undefined && !leaf.checkPrivateKey(privateKey)) {
    location
      .at('key')
      .fault(
        'does not belong to the certificate in cert; name the key of its first certificate, and put that one first',
      );
    return;
  }
  try {
    createSecureContext({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
  } catch (error) {
    const code = codeOf(error);
    location.fault(
      `the TLS of this machine refuses these files${code === undefined ? '' : ` (${code})`}; make them anew with a longer key`,
    );
  }
}

const notCertificates = 'the file holds no PEM certificate, or one that cannot be read';

function toCertificates(text: string): X509Certificate[] | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const begun = text.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (blocks.length === 0 || blocks.length !== begun) return undefined;
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined; // reported by the caller
  }
}

function toPrivateKey(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined; // reported by the caller
  }
}
