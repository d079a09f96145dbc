import { Code, Group } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatDate, formatMoney } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { FactsSkeleton } from '../../parts/skeletons.tsx';

type Me = ResponseOf<'/me'>;
type Usage = Me['plan']['limits']['links'];

const STATUSES: Record<string, string> = {
  active: 'active',
  trialing: 'trial',
  past_due: 'past due',
  canceled: 'ended',
};

const usage = ({ used, limit }: Usage, write = formatCount) =>
  limit === null ? `${write(used)}, without a limit` : `${write(used)} of ${write(limit)}`;

/** The workspace's names, plan and usage. */
export function WorkspaceFacts() {
  const { workspace } = useSession();
  const me = useApi<Me>('/me');
  const inCurrency = (amount: number) => formatMoney(amount, workspace.currency);
  return (
    <Section title="Workspace" about="The operator of this service sets the plan.">
      <QueryView query={me} skeleton={<FactsSkeleton count={7} />}>
        {({ plan, workspace: more }) => (
          <Facts>
            <Fact name="Short name">{workspace.slug}</Fact>
            <Fact name="ID">
              {/* No higher than the other facts, as its skeleton is not. */}
              <Group gap="xs" wrap="nowrap" my={-6}>
                <Code className="one-line" miw={0}>
                  {workspace.id}
                </Code>
                <CopyButton value={workspace.id} what="the workspace's ID" />
              </Group>
            </Fact>
            <Fact name="Plan">
              {plan.name}, {STATUSES[plan.status] ?? plan.status}
            </Fact>
            <Fact name="Links (without referral links)">{usage(plan.limits.links)}</Fact>
            <Fact name="Events this period (clicks, identifies, orders)">
              {usage(plan.limits.events)}, until {formatDate(plan.events_reset_at)}
            </Fact>
            <Fact name="Commission this period">
              {plan.limits.commission.limit === 0
                ? 'not in this plan'
                : `${usage(plan.limits.commission, inCurrency)}, until ${formatDate(plan.commission_reset_at)}`}
            </Fact>
            <Fact name="Since">{formatDate(more.created_at)}</Fact>
          </Facts>
        )}
      </QueryView>
    </Section>
  );
}
