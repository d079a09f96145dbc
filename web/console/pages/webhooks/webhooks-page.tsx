import { PageHeader } from '../../parts/page-header.tsx';

export default function WebhooksPage() {
  return <PageHeader title="Webhooks" />;
}
