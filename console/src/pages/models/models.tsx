/** The page Models. */

import { PageHead } from '../../parts/page-head.tsx';

export default function Models() {
  return <PageHead title="Models" />;
}
