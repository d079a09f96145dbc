import { PageHeader } from '../../parts/page-header.tsx';

export default function BioPagePage() {
  return <PageHeader title="Bio page" />;
}
