import { PageHeader } from '../../parts/page-header.tsx';

export default function WelcomePage() {
  return <PageHeader title="Welcome" />;
}
