/** The page Upstreams. */

import { PageHead } from '../../parts/page-head.tsx';

export default function Upstreams() {
  return <PageHead title="Upstreams" />;
}
