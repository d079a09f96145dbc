import { PageHeader } from '../../parts/page-header.tsx';

export default function OverviewPage() {
  return <PageHeader title="Overview" />;
}
