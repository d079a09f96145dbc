import { Component, type ReactNode } from 'react';
import { FailureNotice } from '../parts/failure-notice.tsx';

/** Keeps a page that breaks from taking the navigation with it. */
export class PageBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    // A page whose code is gone (the server was upgraded) comes with a reload.
    return <FailureNotice error={this.state.error} again={() => window.location.reload()} />;
  }
}
