import { PageHeader } from '../../parts/page-header.tsx';

export default function ReferralsPage() {
  return <PageHeader title="Referrals" />;
}
