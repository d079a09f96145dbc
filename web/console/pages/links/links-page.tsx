import { PageHeader } from '../../parts/page-header.tsx';

export default function LinksPage() {
  return <PageHeader title="Links" />;
}
