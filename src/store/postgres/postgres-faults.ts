/** Converts errors of PostgreSQL, its client library and the network to messages for the operator. */

import { StoreError } from '../store-error.ts';

/** The error for a server that is unreachable at present; a retry may succeed. */
export class StoreAwayError extends StoreError {
  override name = 'StoreError';
}

interface Fault {
  readonly isPassing: boolean;
  readonly sentence: (store: string) => string;
}

type Sentence = Fault['sentence'];
const passing = (sentence: Sentence): Fault => ({ isPassing: true, sentence });
const lasting = (sentence: Sentence): Fault => ({ isPassing: false, sentence });

const away = passing(
  (store) => `${store} cannot be reached; check that it runs, its host and port in "store", and what lies between.`,
);
const starting = passing((store) => `${store} is starting or stopping; wait a moment.`);
const refused = lasting(
  (store) => `${store} refuses the user or the password in "store"; check both, and the server's pg_hba.conf.`,
);
const untrusted = lasting(
  (store) =>
    `${store} shows a certificate that is not trusted; add sslrootcert=<file of its CA> to "store", or correct the host.`,
);
const tooBusy = passing(
  (store) => `${store} took too long; look for what else it is doing, and for locks that are held.`,
);

/** Faults by PostgreSQL's SQLSTATE, or by the code of the operating system or of TLS. */
const byCode: Readonly<Record<string, Fault>> = {
  ECONNREFUSED: away,
  ECONNRESET: away,
  EPIPE: away,
  ETIMEDOUT: away,
  EHOSTUNREACH: away,
  ENETUNREACH: away,
  EAI_AGAIN: away,
  ENOTFOUND: away,
  '08000': away,
  '08003': away,
  '08006': away,
  '57P01': starting,
  '57P02': starting,
  '57P03': starting,
  '25P03': tooBusy,
  '40001': tooBusy,
  '40P01': tooBusy,
  '55P03': tooBusy,
  '57014': tooBusy,
  '28000': refused,
  '28P01': refused,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  CERT_HAS_EXPIRED: untrusted,
  '3D000': lasting((store) => `${store} is not there; make it with "createdb", or name another one in "store".`),
  '53300': passing(
    (store) => `${store} has no connection left; raise its max_connections, or run fewer nodes or a connection pool.`,
  ),
  '53100': passing((store) => `${store} has a full disk; make room there.`),
  '53200': passing((store) => `${store} has no memory left; give its server more.`),
  '25006': passing(
    (store) => `${store} takes no writes (a standby, or set to read-only); point "store" at the primary.`,
  ),
  '42501': lasting(lacksRights),
};

/** Faults by message, for errors of the client library without a code. */
const byMessage: readonly (readonly [RegExp, Fault])[] = [
  [/timeout|terminated|not queryable|connection (error|closed)|ended/i, away],
  [
    /does not support SSL/i,
    lasting((store) => `${store} offers no TLS; set it up there, or write sslmode=disable in "store".`),
  ],
  [/password/i, lasting((store) => `${store} wants a password; write it in "store", or set PGPASSWORD.`)],
  [
    /sslmode|sslrootcert/i,
    lasting(
      (store) =>
        `${store}: sslmode=verify-ca needs sslrootcert=<file of the CA>; add it to "store", or write verify-full.`,
    ),
  ],
];

/** Converts an error to a message for the operator. An error of neither server nor network is a bug of ours, and stays unchanged. */
export function toPostgresError(thrown: unknown, store: string): unknown {
  if (!(thrown instanceof Error) || thrown instanceof StoreError) return thrown;
  // Several addresses were tried: the last error stands for all.
  const error = thrown instanceof AggregateError && thrown.errors.length > 0 ? thrown.errors.at(-1) : thrown;
  const code = Reflect.get(Object(error), 'code');
  const fault = findFault(code, error instanceof Error ? error.message : '');
  if (fault === undefined) return thrown;
  const sentence = fault.sentence(store);
  return fault.isPassing ? new StoreAwayError(sentence, thrown) : new StoreError(sentence, thrown);
}

function findFault(code: unknown, message: string): Fault | undefined {
  if (typeof code === 'string') {
    if (Object.hasOwn(byCode, code)) return byCode[code];
    if (code === 'ENOENT') return readFile;
    // The server's errors have codes; their texts may hold anything.
    return undefined;
  }
  return byMessage.find(([pattern]) => pattern.test(message))?.[1];
}

const readFile = lasting(
  (store) => `${store}: a file that "store" names (a certificate, a key or a socket) is not there; check its path.`,
);

/** Whether the connection is unusable: the failed statement may still be running on it. */
export function isConnectionLost(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  // Only the server's errors have a severity, and after most of them the connection stays usable.
  if (Reflect.get(thrown, 'severity') === undefined) return true;
  return /^(08|57P0|25P03)/.test(String(Reflect.get(thrown, 'code')));
}

export function lacksRights(store: string): string {
  return `${store} does not give its user the rights it needs; let the user own the database, or grant CREATE and USAGE on its schema.`;
}

export interface ServerFacts {
  /** The server's version as a number, such as 150012. */
  readonly version: number;
  readonly encoding: string;
  readonly isStandby: boolean;
}

const oldestVersion = 15;

/** Why the server cannot be used as a store; undefined for a suitable one. */
export function whyUnfit({ version, encoding, isStandby }: ServerFacts, store: string): string | undefined {
  const major = Math.floor(version / 10_000);
  if (major < oldestVersion) return `${store} is PostgreSQL ${major}; Postern needs ${oldestVersion} or newer.`;
  if (encoding !== 'UTF8') return `${store} has the encoding ${encoding}; make a database with the encoding UTF8.`;
  if (isStandby) return `${store} is a standby and takes no writes; point "store" at the primary.`;
  return undefined;
}
