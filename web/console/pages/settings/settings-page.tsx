import { Tabs } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import { AuditLog } from './audit-log.tsx';
import { Members } from './members.tsx';
import { OwnPasskeys } from './own-passkeys.tsx';
import { OwnPassword } from './own-password.tsx';
import { OwnSessions } from './own-sessions.tsx';
import { OwnTwoFactor } from './own-two-factor.tsx';
import { PublishableKeys } from './publishable-keys.tsx';
import { WorkspaceFacts } from './workspace-facts.tsx';
import { WorkspaceLogo } from './workspace-logo.tsx';
import { WorkspaceSettings } from './workspace-settings.tsx';

const TABS = ['workspace', 'members', 'sign-in'];
const OWNER_TABS = [...TABS, 'audit-log'];

/** Settings: workspace, members, the member's own sign-in and, for owners, the audit log. */
export default function SettingsPage() {
  const [search, change] = useUrlParameters();
  const { member, can } = useSession();
  const isOwner = can('owner');
  const tabs = isOwner ? OWNER_TABS : TABS;
  const chosen = search.get('tab') ?? '';
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        keepMounted={false}
        value={tabs.includes(chosen) ? chosen : 'workspace'}
        onChange={(tab) => change({ tab: tab === 'workspace' ? null : tab, cursor: null })}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="workspace">Workspace</Tabs.Tab>
          <Tabs.Tab value="members">Members</Tabs.Tab>
          <Tabs.Tab value="sign-in">Your sign-in</Tabs.Tab>
          {isOwner && <Tabs.Tab value="audit-log">Audit log</Tabs.Tab>}
        </Tabs.List>
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
        {isOwner && (
          <Tabs.Panel value="audit-log">
            <AuditLog />
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}
