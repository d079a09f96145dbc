import { PageHeader } from '../../parts/page-header.tsx';

export default function LinkPage() {
  return <PageHeader title="Link" />;
}
