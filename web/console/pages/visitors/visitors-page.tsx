import { PageHeader } from '../../parts/page-header.tsx';

export default function VisitorsPage() {
  return <PageHeader title="Visitors" />;
}
