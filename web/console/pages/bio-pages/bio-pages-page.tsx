import { PageHeader } from '../../parts/page-header.tsx';

export default function BioPagesPage() {
  return <PageHeader title="Bio pages" />;
}
