import { PageHeader } from '../../parts/page-header.tsx';

export default function WebhookPage() {
  return <PageHeader title="Webhook" />;
}
