import { Skeleton } from '@mantine/core';
import { PAGES } from '../pages.tsx';
import { BlocksSkeleton, Loading } from '../parts/skeletons.tsx';

/** The title and the content of a page whose code loads. */
export const PageSkeleton = () => <BlocksSkeleton heights={[34, 36, 360]} />;

/** The header, the navigation and the page while it is not known who is signed in. */
export const ShellSkeleton = () => (
  <>
    <header className="shell-header" />
    <nav className="shell-pages" aria-label="Pages">
      <Loading>
        {PAGES.filter(({ icon }) => icon).map(({ path }) => (
          <div key={path} className="shell-page">
            <Skeleton height={18} />
          </div>
        ))}
      </Loading>
    </nav>
    <main className="shell-main">
      <PageSkeleton />
    </main>
  </>
);
