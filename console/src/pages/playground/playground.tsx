/** The page Playground. */

import { PageHead } from '../../parts/page-head.tsx';

export default function Playground() {
  return <PageHead title="Playground" />;
}
