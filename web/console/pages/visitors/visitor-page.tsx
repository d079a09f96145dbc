import { PageHeader } from '../../parts/page-header.tsx';

export default function VisitorPage() {
  return <PageHeader title="Visitor" />;
}
