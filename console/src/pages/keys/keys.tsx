/** The page Keys. */

import { PageHead } from '../../parts/page-head.tsx';

export default function Keys() {
  return <PageHead title="Keys" />;
}
