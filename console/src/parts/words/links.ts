/** Links to a thing's own page, and to the Explorer filtered by it. */

type SubjectKind = 'gateway' | 'upstream' | 'model' | 'key' | 'project' | 'configuration' | 'settings';

interface Subject {
  readonly kind: SubjectKind;
  /** Null for all of them. */
  readonly id: string | null;
}

export function pageOf({ kind, id }: Subject): string {
  const under = (path: string): string => (id === null ? path : `${path}/${encodeURIComponent(id)}`);
  switch (kind) {
    case 'upstream':
      return under('/upstreams');
    case 'model':
      return under('/models');
    case 'key':
      return under('/keys');
    case 'project':
      return under('/keys/projects');
    case 'settings':
      return under('/settings');
    case 'gateway':
      return '/explorer';
    case 'configuration':
      return '/settings/about';
  }
}

/** The segments after the page's own path, such as of `/models/a%2Fb`. */
export const segmentsOf = (location: string): readonly string[] => location.split('/').slice(2).map(decodeSegment);

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A lone percent sign was typed: it is kept.
    return segment;
  }
}

/** Takes the parameters of the Explorer's URL: filters, `range` or `from` and `to`, `by`. */
export const exploreHref = (asked: Readonly<Record<string, string>>): string =>
  `/explorer?${new URLSearchParams(asked)}`;
