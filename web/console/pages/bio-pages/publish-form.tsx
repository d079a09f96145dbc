import { Box, NativeSelect, Stack, Switch, Text, Textarea, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { isLanguage } from '../../../../core/languages/languages.ts';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { FormSection } from '../../parts/form-section.tsx';
import { LANGUAGE_CHOICES } from '../../parts/language-choices.ts';
import type { PartProps } from './editor.tsx';
import type { BioPage } from './responses.ts';

/** Publishing, metadata and deletion of the page. */
export function PublishForm({ draft, change, wrong, page }: PartProps & { page: BioPage }) {
  const { can } = useSession();
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const remove = useSend<void>(() => ({ path: `/bio-pages/${page.id}`, method: 'DELETE' }), {
    done: 'Deleted',
  });
  return (
    <Stack gap="md">
      <Switch
        label="Published"
        description="While off, the address is not found. The buttons’ short links keep working."
        checked={draft.is_published}
        onChange={(event) => change({ is_published: event.currentTarget.checked })}
      />
      <Switch
        label="“Made with Hoplog” at the foot"
        checked={draft.show_branding}
        onChange={(event) => change({ show_branding: event.currentTarget.checked })}
      />
      <NativeSelect
        label="Language"
        description="Of your texts. Screen readers speak it, and Arabic reads from right to left."
        data={[{ value: '', label: 'As the workspace, or each visitor’s own' }, ...LANGUAGE_CHOICES]}
        value={draft.language ?? ''}
        error={wrong('language')}
        onChange={({ currentTarget: { value } }) => change({ language: isLanguage(value) ? value : '' })}
      />
      <FormSection
        title="For developers"
        set={draft.metadata.trim() === '' ? null : 'metadata'}
        hint="Metadata"
        isWrong={Boolean(wrong('metadata'))}
      >
        <Textarea
          label="Metadata"
          description="A JSON object of at most 4 KB for your own systems. Visitors do not see it."
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          value={draft.metadata}
          error={wrong('metadata')}
          onChange={(event) => change({ metadata: event.currentTarget.value })}
        />
      </FormSection>
      {can('operator') && (
        <Box mt="lg">
          <Title order={2} size="h4" mb="xs">
            Delete
          </Title>
          <Text size="sm" mb="sm">
            The address stays reserved for your workspace.
          </Text>
          <ConfirmButton
            question={`Delete the page “${page.title || page.slug}”?`}
            consequence="The page, its buttons’ short links and their clicks are deleted. This cannot be undone."
            yes="Delete"
            pending={remove.isPending}
            onConfirm={async () => {
              await remove.mutateAsync();
              navigate('/bio-pages', { replace: true });
              // Only the list: the page no longer exists.
              await queries.invalidateQueries({ queryKey: ['/bio-pages'] });
            }}
          >
            Delete this page
          </ConfirmButton>
        </Box>
      )}
    </Stack>
  );
}
