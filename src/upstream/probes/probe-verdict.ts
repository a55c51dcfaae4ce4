/** Explains the result of an upstream test: what is wrong, and what to do. Pure. */

import type { ProbeProblem, ProbeStep } from '../../core/probe.ts';

export interface ProbeAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Number of models in the list; undefined where the answer is no list. */
  readonly models: number | undefined;
  /** Whether a model list was requested; else an empty call was made. */
  readonly asksForList: boolean;
  readonly path: string;
  readonly hasCredential: boolean;
  /** The service's message, shortened; it never contains a secret. */
  readonly said: string;
}

export function problemOfAnswer(answer: ProbeAnswer): ProbeProblem | undefined {
  const { status, contentType, models, asksForList, path, hasCredential, said } = answer;
  const quote = said === '' ? '' : ` It says: ${said}`;
  if (status < 300) {
    if (!asksForList || models !== undefined) return undefined;
    return {
      message: /html/i.test(contentType)
        ? `A web page is at ${path}, and no list of models.`
        : `What is at ${path} is no list of models.`,
      advice: 'See whether base_url is the address of the API, and not that of a website or of another service.',
      field: 'base_url',
    };
  }
  if (status < 400) {
    return {
      message: `It answers with a redirect (${status}), and Postern follows none.`,
      advice: 'Write the address that it leads to as base_url; often that is https:// in place of http://.',
      field: 'base_url',
    };
  }
  if (status === 401 || status === 403) {
    return {
      message: hasCredential
        ? `The service is there and refuses the credential (${status}).`
        : `The service is there and wants a credential (${status}).`,
      advice: hasCredential
        ? 'See whether the key is whole, belongs to this service and address, and was not revoked.'
        : 'Write its API key.',
      field: 'api_key',
    };
  }
  if (status === 404 || status === 405) {
    if (!asksForList) return undefined;
    return {
      message: `The service is there, and has nothing at ${path} (${status}).`,
      advice:
        'See whether the path of base_url is right: a version such as /v1 may be missing or stand there twice. Some services have no list of models; those work all the same.',
      field: 'base_url',
    };
  }
  if (status === 402) {
    return {
      message: `The service takes the credential, and its account has no balance (402).${quote}`,
      advice: 'Look at the account at the provider.',
      field: undefined,
    };
  }
  if (status === 429) {
    return {
      message: `The service takes the credential, and has enough of it for now (429).${quote}`,
      advice: 'Try again in a minute, or look at the limits of the account at the provider.',
      field: undefined,
    };
  }
  if (status >= 500) {
    return {
      message: `The service is there, and is not well (${status}).${quote}`,
      advice:
        'Look at its own log or status page; a server that loads a model answers like this as well. Try again later.',
      field: undefined,
    };
  }
  // The call was empty on purpose: an error that complains about it shows that the upstream read it.
  if (!asksForList) return undefined;
  return {
    message: `The service answers ${status}.${quote}`,
    advice: 'See whether the family and base_url belong to each other.',
    field: 'base_url',
  };
}

interface ErrorFacts {
  readonly code: string;
  readonly message: string;
  readonly step: ProbeStep['name'];
  readonly host: string;
  readonly isSecure: boolean;
}

type Words = (facts: ErrorFacts) => ProbeProblem;

const certificate =
  (what: string, advice: string): Words =>
  ({ host }) => ({ message: `The certificate of ${host} ${what}.`, advice, field: 'tls' });

const ownAuthority =
  'If it is one of your own, name the file of your certificate authority as tls.ca; else do not go on: someone may be in between.';

const byCode: Readonly<Record<string, Words>> = {
  ENOTFOUND: ({ host }) => ({
    message: `No machine is called ${host}.`,
    advice: 'See whether base_url is spelled right, and whether the gateway can look the name up.',
    field: 'base_url',
  }),
  EAI_AGAIN: ({ host }) => ({
    message: `The name ${host} could not be looked up just now.`,
    advice: 'See whether the gateway reaches its name server, and try again.',
    field: undefined,
  }),
  ERR_ADDRESS_NOT_ALLOWED: ({ host }) => ({
    message: `${host} leads to an address that upstreams of the console may not have.`,
    advice:
      'Write another address, or have the operator admit it with upstream_addresses.allow in the configuration file.',
    field: 'base_url',
  }),
  ENOENT: ({ host }) => ({
    message: `There is no socket at ${host}.`,
    advice:
      'See whether base_url is spelled right, and whether the service runs. In a container, the directory of the socket must be mounted.',
    field: 'base_url',
  }),
  EACCES: ({ host }) => ({
    message: `The gateway may not write to ${host}.`,
    advice: 'Give the user of the gateway the right to write to the socket, and to enter the directories on the way.',
    field: 'base_url',
  }),
  ECONNREFUSED: ({ host }) => ({
    message: host.startsWith('/')
      ? `There is a file at ${host}, and nobody listens there.`
      : `${host} is there, and nobody listens at that port.`,
    advice: host.startsWith('/')
      ? 'See whether the service runs, and whether this is its socket.'
      : 'See whether the service runs, and whether the port of base_url is its own. From a container, 127.0.0.1 is the container itself.',
    field: 'base_url',
  }),
  ERR_CONNECT_TIMEOUT: ({ host }) => ({
    message: `${host} did not answer the connection in time.`,
    advice: 'A firewall may drop it, or the address is wrong. Where it is just far away, raise timeouts.connect.',
    field: 'base_url',
  }),
  EHOSTUNREACH: ({ host }) => ({
    message: `No way leads from the gateway to ${host}.`,
    advice: 'See whether the gateway is in the network that it needs.',
    field: 'base_url',
  }),
  ERR_PROXY_TUNNEL: ({ message }) => ({
    message,
    advice: 'See whether HTTPS_PROXY and NO_PROXY in the environment of the gateway are right.',
    field: undefined,
  }),
  CERT_HAS_EXPIRED: certificate('is over its time', 'The operator of the service has to renew it.'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate(
    'is for another name',
    'Write the name that the certificate has in base_url, or set tls.server_name to it.',
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate('is signed by nobody but itself', ownAuthority),
  SELF_SIGNED_CERT_IN_CHAIN: certificate('is signed by an authority that is not trusted here', ownAuthority),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate('cannot be traced to an authority that is trusted here', ownAuthority),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate('cannot be traced to an authority that is trusted here', ownAuthority),
};

const unreachable = new Set(['ENETUNREACH', 'EADDRNOTAVAIL']);

export function problemOfError(facts: ErrorFacts): ProbeProblem {
  const { code, message, step, host, isSecure } = facts;
  const words = byCode[unreachable.has(code) ? 'EHOSTUNREACH' : code];
  if (words !== undefined) return words(facts);
  if (step === 'secure') {
    return {
      message: `${host} speaks no TLS that can be agreed on (${code || message}).`,
      advice: 'See whether the service speaks https:// at this port at all; else write http:// in base_url.',
      field: 'base_url',
    };
  }
  if (step === 'ask') {
    return code === 'timeout'
      ? {
          message: `${host} takes the connection, and does not answer.`,
          advice: 'See whether the service is busy or loads a model, and whether this is its port.',
          field: undefined,
        }
      : {
          message: `${host} takes the connection, and what it answers is no HTTP (${code || message}).`,
          advice: isSecure
            ? 'See whether the port of base_url is that of the API.'
            : 'See whether the port is that of the API, and whether the service wants https://.',
          field: 'base_url',
        };
  }
  return {
    message: `${host} cannot be reached (${code || message}).`,
    advice: 'See whether base_url is right, and whether the service runs.',
    field: 'base_url',
  };
}
