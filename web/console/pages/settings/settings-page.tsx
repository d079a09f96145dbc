import { Tabs } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { TabLine } from '../../parts/tab-line.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import { AuditLog } from './audit-log.tsx';
import { MailLog } from './mail-log.tsx';
import { Members } from './members.tsx';
import { OwnPasskeys } from './own-passkeys.tsx';
import { OwnPassword } from './own-password.tsx';
import { OwnSessions } from './own-sessions.tsx';
import { OwnTwoFactor } from './own-two-factor.tsx';
import { PublishableKeys } from './publishable-keys.tsx';
import { WorkspaceFacts } from './workspace-facts.tsx';
import { WorkspaceLogo } from './workspace-logo.tsx';
import { WorkspaceSettings } from './workspace-settings.tsx';

const TABS = [
  { key: 'workspace', title: 'Workspace' },
  { key: 'members', title: 'Members' },
  { key: 'sign-in', title: 'Your sign-in' },
];
const MAIL_TAB = { key: 'mail', title: 'Mail' };
const AUDIT_TAB = { key: 'audit-log', title: 'Audit log' };

/** Settings: workspace, members, the member's own sign-in and, for owners, mail and the audit log. */
export default function SettingsPage() {
  const [search, change] = useUrlParameters();
  const { member, can, sends_mail: sendsMail } = useSession();
  const isOwner = can('owner');
  const tabs = isOwner ? [...TABS, ...(sendsMail ? [MAIL_TAB] : []), AUDIT_TAB] : TABS;
  const chosen = tabs.find(({ key }) => key === search.get('tab'))?.key ?? 'workspace';
  const choose = (tab: string | null) => change({ tab: tab === 'workspace' ? null : tab, cursor: null });
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs keepMounted={false} value={chosen} onChange={choose}>
        <TabLine label="Parts of settings" tabs={tabs} chosen={chosen} choose={choose} />
        <Tabs.Panel value="workspace">
          <WorkspaceFacts />
          <WorkspaceSettings />
          <WorkspaceLogo />
          <PublishableKeys />
        </Tabs.Panel>
        <Tabs.Panel value="members">
          <Members />
        </Tabs.Panel>
        <Tabs.Panel value="sign-in">
          <OwnPasskeys />
          {member.email !== null && <OwnPassword email={member.email} />}
          <OwnTwoFactor />
          <OwnSessions />
        </Tabs.Panel>
        {isOwner && sendsMail && (
          <Tabs.Panel value="mail">
            <MailLog />
          </Tabs.Panel>
        )}
        {isOwner && (
          <Tabs.Panel value="audit-log">
            <AuditLog />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}
