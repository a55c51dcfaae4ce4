/** Decides which headers of an upstream's response may reach a client: never the blocked ones, and where the operator lists some, only those. */

interface HeaderClass {
  /** The reason, as the predicate of a sentence: "refresh tells a browser what to do". */
  readonly why: string;
  /** Header names in lower case; a name with `*` at the end matches every name with that beginning. */
  readonly names: readonly string[];
  readonly form?: RegExp;
}

/** Classes of headers that never pass to a client. docs/reference/routes.md has the same table in this order. */
export const withheldClasses: readonly HeaderClass[] = [
  {
    why: 'belongs to one connection',
    names: ['connection', 'keep-alive', 'te', 'transfer-encoding', 'upgrade', 'http2-settings'],
  },
  {
    why: 'tells a proxy in front of Postern what to do: which file to serve, what to keep, whom to call no more',
    names: [
      'proxy-*',
      'x-accel-*',

      'x-sendfile*',
      'x-lighttpd-*',
      'x-litespeed-*',
      'x-reproxy-*',
      'surrogate-control',
      'cdn-cache-control',
      'edge-control',
      'x-envoy-immediate-health-check-fail',
      'x-envoy-degraded',
      'x-envoy-overloaded',
      'x-envoy-ratelimited',
    ],
  },
  {
    why: 'tells a browser what to do, or sets a policy, in the name of the address that it knows Postern by',
    names: [
      'set-cookie*',
      'refresh',
      'location',
      'alt-svc',
      'clear-site-data',
      'strict-transport-security',
      'service-worker-allowed',
      'nel',
      'report-to',
      'reporting-endpoints',
      'public-key-pins*',
      'expect-ct',
      'expect-staple',
      'content-security-policy*',
      'x-content-security-policy*',
      'x-webkit-csp*',
      'permissions-policy*',
      'feature-policy',
      'document-policy*',
      'cross-origin-*',
      'origin-agent-cluster',
      'origin-trial',
      'accept-ch',
      'critical-ch',
      'speculation-rules',
      'supports-loading-mode',
      'set-login',
      'attribution-reporting-*',
      'access-control-*',
      'timing-allow-origin',
      'sourcemap',
      'x-sourcemap',
    ],
  },
  {
    why: 'asks for a credential, or answers one, which is between Postern and the upstream',
    names: ['www-authenticate', 'authentication-info', 'authentication-control', 'optional-www-authenticate'],
  },
  {
    why: "names the upstream's server",
    names: ['server', 'via'],
  },
  {
    why: "names the operator's account at the upstream",
    names: ['x-ms-client-principal*', 'x-hf-bill-to'],
    form: /^(?!x-ratelimit-).*(?:^|-)(?:(?:organi[sz]ation|org|account|project|subscription|workspace)(?:-(?:id|name|uuid|number))?|tenant-id)$|^x-amzn?-(?:account|caller|cognito|iam|identity|oidc|principal|user)(?:-|$)/,
  },
  {
    why: "is Postern's own to say",
    names: ['x-postern-*'],
  },
];

const exact = new Map<string, string>();
const beginnings: [start: string, why: string][] = [];
const forms: [form: RegExp, why: string][] = [];
for (const { why, names, form } of withheldClasses) {
  for (const name of names) {
    if (name.endsWith('*')) beginnings.push([name.slice(0, -1), why]);
    else exact.set(name, why);
  }
  if (form !== undefined) forms.push([form, why]);
}

/** Why a header never passes to a client; undefined where it does. The name is in lower case. */
export function whyWithheld(name: string): string | undefined {
  return (
    exact.get(name) ??
    beginnings.find(([start]) => name.startsWith(start))?.[1] ??
    forms.find(([form]) => form.test(name))?.[1]
  );
}

/** Whether a `Link` header commands loading: `preload` is a command to proxies and browsers, other links only point elsewhere. */
export const commandsLoading = (link: string): boolean => /preload/i.test(link.replaceAll(/<[^>]*>/g, ''));

/** Headers that pass in any case: without them a client could not read a body, or know when to retry. */
const indispensable = ['content-type', 'content-encoding', 'content-length', 'trailer', 'retry-after'];

/** The only headers of an answer that the operator lets through. */
export interface HeaderList {
  has(name: string): boolean;
}

/** Builds a list from names in lower case; a name with `*` at the end matches every name with that beginning. */
export function toHeaderList(names: readonly string[]): HeaderList {
  const listed = new Set([...indispensable, ...names.filter((name) => !name.endsWith('*'))]);
  const starts = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return Object.freeze({ has: (name: string) => listed.has(name) || starts.some((start) => name.startsWith(start)) });
}
