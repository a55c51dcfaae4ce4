/** Makes links to the page of a model, upstream, key or project, and to the Explorer filtered by one. */

type SubjectKind = 'gateway' | 'upstream' | 'model' | 'key' | 'project' | 'configuration' | 'settings';

interface Subject {
  readonly kind: SubjectKind;
  /** The ID; null stands for all of the kind. */
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

/** The parts of a path after the page's own, such as `a/b` of `/models/a%2Fb`. */
export const segmentsOf = (location: string): readonly string[] => location.split('/').slice(2).map(decodeSegment);

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // A lone percent sign was typed: it is kept.
    return segment;
  }
}

/** A link to the Explorer with URL parameters: filters, `range` or `from` and `to`, `by`. */
export const exploreHref = (asked: Readonly<Record<string, string>>): string =>
  `/explorer?${new URLSearchParams(asked)}`;
