import { PageHeader } from '../../parts/page-header.tsx';

export default function LivePage() {
  return <PageHeader title="Live" />;
}
