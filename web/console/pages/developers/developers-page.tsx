import { PageHeader } from '../../parts/page-header.tsx';

export default function DevelopersPage() {
  return <PageHeader title="Developers" />;
}
