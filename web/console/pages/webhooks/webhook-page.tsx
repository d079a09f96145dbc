import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useParams } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { DetailSkeleton } from '../../parts/skeletons.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { LastFailure } from './last-failure.tsx';
import type { ShownWebhook } from './responses.ts';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookFacts } from './webhook-facts.tsx';

/** A webhook's settings and deliveries. */
export default function WebhookPage() {
  const { id } = useParams<{ id: string }>();
  const { can } = useSession();
  const webhook = useApi<ShownWebhook>(`/webhooks/${encodeURIComponent(id)}`);
  const host = webhook.data && URL.parse(webhook.data.url)?.host;
  return (
    <>
      <PageHeader title={host ? `Webhook to ${host}` : 'Webhook'} isBar>
        {webhook.data && <WebhookActions webhook={webhook.data} />}
      </PageHeader>
      <QueryView query={webhook} skeleton={<DetailSkeleton facts={5} />}>
        {(data) => (
          <Stack gap="lg">
            {data.disabled_at !== null && (
              <Alert
                color="red"
                variant="outline"
                icon={<IconAlertTriangle />}
                title="Disabled after failures"
              >
                <Text size="sm">
                  No delivery succeeded for five days, or your server asked for no more. It has received
                  nothing since {formatInstant(data.disabled_at)}.{' '}
                  {can('operator')
                    ? 'Once your server works, enable it again: it then receives new events.'
                    : 'Operators of the workspace can enable it again.'}
                </Text>
              </Alert>
            )}
            <LastFailure webhook={data} />
            <WebhookFacts webhook={data} />
            <DeliveryLog webhook={data} />
          </Stack>
        )}
      </QueryView>
    </>
  );
}
