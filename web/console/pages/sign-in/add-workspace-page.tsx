import { Container } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { showSession } from '../../api/keep-to-session.ts';
import SignInPage from './sign-in-page.tsx';

/** Signs in to another workspace; the switcher leads back to the present one. */
export default function AddWorkspacePage() {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return (
    <Container size={460} px={0} ml={0}>
      <SignInPage
        onAdded={(session) => {
          navigate('/');
          showSession(queries, session);
        }}
      />
    </Container>
  );
}
