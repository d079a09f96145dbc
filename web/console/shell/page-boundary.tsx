import { Component, type ReactNode } from 'react';
import { FailureNotice } from '../parts/failure-notice.tsx';

/** Error boundary of a page: the navigation stays. */
export class PageBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    // After an upgrade of the server, old code files are gone: reload.
    return <FailureNotice error={this.state.error} again={() => window.location.reload()} />;
  }
}
