import { PageHeader } from '../../parts/page-header.tsx';

export default function SettingsPage() {
  return <PageHeader title="Settings" />;
}
