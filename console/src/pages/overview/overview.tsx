/** The page Overview. */

import { PageHead } from '../../parts/page-head.tsx';

export default function Overview() {
  return <PageHead title="Overview" />;
}
